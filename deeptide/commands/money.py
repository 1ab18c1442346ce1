"""What the session cost, and what the cache saved.

Invariant: every figure is read from the log; an unknown price is named as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from deeptide.commands.command import Command, CommandContext
from deeptide.commands.figures import clock, many, money, percent, short, table
from deeptide.commands.requests import Request, requests
from deeptide.commands.results import Result, Text
from deeptide.model.pricing import price, rates_at
from deeptide.protocol.usage import Money, Usage

TURNS_SHOWN = 10
REQUESTS_SHOWN = 20
NAME = 14
"""Characters of a model's name in a table."""
_HEAD = ("", "sent", "input", "cached", "output", "thinking", "money")
_NONE = "No request was answered in this session yet."


async def cost(context: CommandContext, argument: str) -> Result:
    made = requests(context.session.records)
    if not made:
        return Text(f"{_NONE} {_rates(context)}", "Cost")
    fold = context.session.fold
    total = " + ".join(str(each) for each in fold.costs.values()) or "unknown"
    groups: dict[str, list[Request]] = {}
    for one in made:
        groups.setdefault(_kind(one), []).append(one)
    rows = [_row(name, group) for name, group in groups.items()]
    parts = [
        f"**{total}** for {many(len(made), 'request')} in {many(fold.turns, 'turn')}.",
        table(_HEAD, [*rows, _row("all", made)] if len(rows) > 1 else rows),
        "**By turn**\n\n" + table(_HEAD, _turns(made)),
    ]
    if unpriced := sum(one.cost is None for one in made):
        parts.append(f"{many(unpriced, 'request')} could not be priced: no price is known for the model.")
    parts.append(_rates(context))
    return Text("\n\n".join(parts), "Cost")


async def cache(context: CommandContext, argument: str) -> Result:
    made = requests(context.session.records)
    if not made:
        return Text(
            f"{_NONE} The provider keeps what was sent; an unchanged start is read from there.", "Cache"
        )
    used = _sum(made)
    saved = _saved(context, made)
    share = percent(used.hit, used.prompt)
    head = f"**{share}** of all input was read from the cache: {used.hit:,} of {used.prompt:,} tokens."
    if saved is not None:
        head += f" That saved about {saved}."
    rows = [
        (str(place), clock(one.at), str(one.turn), f"{one.usage.prompt:,}", f"{one.usage.hit:,}",
         percent(one.usage.hit, one.usage.prompt), one.why or ("" if one.work == "answer" else one.work))
        for place, one in enumerate(made, 1)
    ][-REQUESTS_SHOWN:]  # fmt: skip
    heads = ("#", "time", "turn", "input", "from cache", "hit", "why not more")
    parts = [head, table(heads, rows)]
    if len(made) > REQUESTS_SHOWN:
        parts.append(f"The newest {REQUESTS_SHOWN} of {len(made)} requests.")
    return Text("\n\n".join(parts), "Cache")


def _kind(one: Request) -> str:
    """`flash`, `v4-pro, peak`, `compaction`: short enough that the table fits a narrow terminal."""
    if one.work != "answer":
        return one.work
    name = short(one.model.removeprefix("deepseek-"), NAME)
    return f"{name}, peak" if one.peak else name


def _row(name: str, made: Sequence[Request]) -> tuple[str, ...]:
    used = _sum(made)
    return (
        name,
        str(len(made)),
        f"{used.prompt:,}",
        percent(used.hit, used.prompt),
        f"{used.completion:,}",
        f"{used.reasoning:,}",
        _money(made),
    )


def _turns(made: Sequence[Request]) -> list[tuple[str, ...]]:
    numbers = list(dict.fromkeys(one.turn for one in made))
    return [
        _row(f"turn {turn}", [one for one in made if one.turn == turn]) for turn in numbers[-TURNS_SHOWN:]
    ]


def _sum(made: Iterable[Request]) -> Usage:
    return sum((one.usage for one in made), Usage())


def _money(made: Iterable[Request]) -> str:
    sums: dict[str, Money] = {}
    for one in made:
        if one.cost is not None:
            sums[one.cost.currency] = sums.get(one.cost.currency, Money(0.0, one.cost.currency)) + one.cost
    return " + ".join(money(each) for each in sums.values()) or "unknown"


def _saved(context: CommandContext, made: Sequence[Request]) -> Money | None:
    """What the hits would have cost more as misses, at the prices of their time; None if one is unknown."""
    currency = context.settings.model.currency
    saved = Money(0.0, currency)
    for one in made:
        spec, at = context.catalog.resolve(one.model).spec, datetime.fromtimestamp(one.at, UTC)
        cold = price(spec, Usage(prompt=one.usage.hit), at, currency).money
        warm = price(spec, Usage(prompt=one.usage.hit, hit=one.usage.hit), at, currency).money
        if cold is None or warm is None:
            return None
        saved = saved + Money(cold.amount - warm.amount, currency)
    return saved


def _rates(context: CommandContext) -> str:
    currency = context.settings.model.currency
    rates, peak = rates_at(context.spec, datetime.now(UTC), currency)
    if rates is None:
        return f"No {currency} price is known for {context.spec.id}."
    tier = "peak" if peak else "off-peak"
    return (
        f"{context.spec.id} now ({tier}), per million tokens: input {Money(rates.miss, currency)}, "
        f"from cache {Money(rates.hit, currency)}, output {Money(rates.output, currency)}."
    )


COMMANDS = (
    Command("cost", "", "Show tokens and money, by turn and by tier", cost),
    Command("cache", "", "Show for each request what was read from the cache, and why not more", cache),
)
