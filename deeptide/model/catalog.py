"""Which models there are, what they can do and what they cost at which time.

Invariant: a name resolves to exactly one id, and what the user has set for a model wins over what stands
here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from deeptide.protocol.errors import UsageError

DEFAULT_MODEL = "deepseek-flash"
ASSUMED_WINDOW = 131_072
ASSUMED_OUTPUT = 32_768
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class Rates(msgspec.Struct, frozen=True):
    """Prices per 1,000,000 tokens in one currency: input from the cache, other input, output."""

    hit: float
    miss: float
    output: float

    def times(self, factor: float) -> Rates:
        return Rates(self.hit * factor, self.miss * factor, self.output * factor)


class PricePeriod(msgspec.Struct, frozen=True):
    """Prices from `since` (UTC) until the next period. `peak` is the factor for peak hours, 1 if there are
    none."""

    since: datetime
    rates: dict[str, Rates]
    peak: float = 1.0


class ModelSpec(msgspec.Struct, frozen=True):
    """One model. `window` and `max_output` in tokens; `prices` in order of time, empty if unknown."""

    id: str
    window: int
    max_output: int
    prices: tuple[PricePeriod, ...] = ()
    images: bool = False
    thinking: bool = True
    efforts: tuple[str, ...] = ("off", "low", "high", "max")

    def period(self, at: datetime) -> PricePeriod | None:
        return next((period for period in reversed(self.prices) if period.since <= at), None)


class Resolved(msgspec.Struct, frozen=True):
    """`notice` is what the user should be told about the name, empty if nothing."""

    spec: ModelSpec
    notice: str = ""


def _usd(month: int, day: int, hour: int, minute: int, hit: float, miss: float, output: float) -> PricePeriod:
    return PricePeriod(
        datetime(2026, month, day, hour, minute, tzinfo=UTC), {"USD": Rates(hit, miss, output)}
    )


# Source: DeepSeek's pricing page and its dated notices. Peak prices, twice the others, began 2026-08-16
# 16:00 UTC.
_FLASH_PRICES = (
    _usd(4, 24, 0, 0, 0.028, 0.14, 0.28),
    _usd(4, 26, 12, 15, 0.0028, 0.14, 0.28),
    PricePeriod(datetime(2026, 8, 16, 16, tzinfo=UTC), {"USD": Rates(0.007, 0.22, 0.66)}, 2.0),
    PricePeriod(
        datetime(2026, 9, 10, 4, tzinfo=UTC),
        {"USD": Rates(0.003, 0.15, 0.60), "CNY": Rates(0.02, 1.0, 4.0)},
        2.0,
    ),
)
_PRO_PRICES = (
    _usd(4, 24, 0, 0, 0.145, 1.74, 3.48),
    _usd(4, 26, 12, 15, 0.0145, 1.74, 3.48),
    _usd(5, 1, 0, 0, 0.003625, 0.435, 0.87),
    PricePeriod(
        datetime(2026, 8, 16, 16, tzinfo=UTC),
        {"USD": Rates(0.022, 0.66, 1.98), "CNY": Rates(0.15, 4.5, 13.5)},
        2.0,
    ),
)
# The server counts input and output together against 1,048,565 tokens, by its own error text.
_MODELS = (
    ModelSpec("deepseek-flash", 1_048_565, 393_216, _FLASH_PRICES, images=True),
    ModelSpec("deepseek-v4-pro", 1_048_565, 393_216, _PRO_PRICES),
)
_SHORT = {"flash": "deepseek-flash", "pro": "deepseek-v4-pro", "deepseek-pro": "deepseek-v4-pro"}
_FORMER = {"deepseek-v4-flash": "deepseek-flash", "deepseek-v4-flash-vision-exp": "deepseek-flash"}
_RETIRED = {
    "deepseek-chat": "Use deepseek-flash with effort off instead.",
    "deepseek-reasoner": "Use deepseek-flash instead; it thinks by default.",
}
DEEPSEEK_NAMES = frozenset({spec.id for spec in _MODELS} | set(_FORMER) | set(_RETIRED))


class Catalog:
    def __init__(self, specs: Mapping[str, ModelSpec], aliases: Mapping[str, str]) -> None:
        self._specs = dict(specs)
        self._aliases = {name: target for name, target in aliases.items() if name not in self._specs}

    @classmethod
    def default(cls) -> Catalog:
        return cls({spec.id: spec for spec in _MODELS}, {**_SHORT, **_FORMER})

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """All known models: DeepSeek's first, then the user's in the order of their names."""
        return tuple(self._specs.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Ids and aliases, for completion."""
        return (*self._specs, *self._aliases)

    def extended(self, entries: Mapping[str, Mapping[str, Any]], currency: str = "USD") -> Catalog:
        """A catalogue in which `entries` win: keys `window`, `max_output`, `images`, `thinking`, `efforts`,
        and `price_hit`, `price_miss`, `price_output` per 1,000,000 tokens in `currency` (or in the entry's
        own `currency`). What an entry leaves out (or gives as None) is kept from the model of that name."""
        specs = dict(self._specs)
        for name in sorted(entries):
            entry = {key: value for key, value in entries[name].items() if value is not None}
            base = specs.get(self._aliases.get(name, name)) or _unknown(name)
            specs[name] = _merged(name, base, entry, currency)
        return Catalog(specs, self._aliases)

    def resolve(self, name: str) -> Resolved:
        """The model a user means. Raises UsageError for an empty or retired name."""
        name = name.strip()
        if not name:
            raise UsageError("No model was named.", f"Known models: {', '.join(self._specs)}.")
        if name in self._specs:
            return Resolved(self._specs[name])
        lower = name.lower()
        if lower in self._specs:
            return Resolved(self._specs[lower])
        if lower in self._aliases:
            spec = self._specs[self._aliases[lower]]
            former = (
                f"{lower} is a former name; the provider serves it as {spec.id}." if lower in _FORMER else ""
            )
            return Resolved(spec, former)
        if lower in _RETIRED:
            raise UsageError(f"The model {lower} was retired on 2026-07-24.", _RETIRED[lower])
        notice = (
            f"The model {name} is not in the catalogue: a window of {ASSUMED_WINDOW:,} tokens is assumed "
            f'and no price is known. Set `window` under [models."{name}"] in the configuration.'
        )
        return Resolved(_unknown(name), notice)


def _unknown(name: str) -> ModelSpec:
    return ModelSpec(name, ASSUMED_WINDOW, ASSUMED_OUTPUT)


def _merged(name: str, base: ModelSpec, entry: Mapping[str, Any], currency: str) -> ModelSpec:
    window = int(entry.get("window", base.window))
    max_output = int(entry.get("max_output", min(base.max_output, window)))
    thinking = bool(entry.get("thinking", base.thinking))
    efforts = tuple(entry.get("efforts", base.efforts if thinking else ("off",)))
    images = bool(entry.get("images", base.images))
    return ModelSpec(name, window, max_output, _prices(base, entry, currency), images, thinking, efforts)


def _prices(base: ModelSpec, entry: Mapping[str, Any], currency: str) -> tuple[PricePeriod, ...]:
    given = {
        key: float(entry[f"price_{key}"]) for key in ("hit", "miss", "output") if f"price_{key}" in entry
    }
    if not given:
        return base.prices
    currency = str(entry.get("currency", currency))
    known = base.prices[-1].rates.get(currency) if base.prices else None
    miss = given.get("miss", known.miss if known else 0.0)
    hit = given.get("hit", known.hit if known else miss)
    output = given.get("output", known.output if known else 0.0)
    return (PricePeriod(_NEVER, {currency: Rates(hit, miss, output)}),)
