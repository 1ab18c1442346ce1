"""Names, windows, prices and peak hours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.model.catalog import ASSUMED_WINDOW, DEFAULT_MODEL, Catalog
from deeptide.model.peak_hours import HOLIDAYS, is_peak, next_change
from deeptide.model.pricing import estimate_cost, price
from deeptide.protocol.errors import UsageError
from deeptide.protocol.usage import Usage
from tests.deep import count

WEDNESDAY = datetime(2026, 11, 25, tzinfo=UTC)
CATALOG = Catalog.default()
FLASH = CATALOG.resolve("deepseek-flash").spec
PRO = CATALOG.resolve("deepseek-v4-pro").spec
MOMENTS = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC))


def test_the_default_model_is_flash_with_its_whole_window() -> None:
    spec = CATALOG.resolve(DEFAULT_MODEL).spec
    assert (spec.id, spec.window, spec.max_output, spec.images) == (
        "deepseek-flash",
        1_048_565,
        393_216,
        True,
    )


@pytest.mark.parametrize("name", ["deepseek-v4-flash", "deepseek-v4-flash-vision-exp", "DeepSeek-V4-Flash"])
def test_a_former_name_resolves_to_flash_and_says_so(name: str) -> None:
    resolved = CATALOG.resolve(name)
    assert resolved.spec.id == "deepseek-flash"
    assert "deepseek-flash" in resolved.notice


def test_short_names_need_no_notice() -> None:
    assert CATALOG.resolve("pro") == CATALOG.resolve("deepseek-v4-pro")
    assert CATALOG.resolve(" flash ").notice == ""


@pytest.mark.parametrize("name", ["deepseek-chat", "deepseek-reasoner"])
def test_a_retired_name_is_refused_with_its_successor(name: str) -> None:
    with pytest.raises(UsageError) as refusal:
        CATALOG.resolve(name)
    assert "deepseek-flash" in refusal.value.advice


def test_an_unknown_name_keeps_its_spelling_and_gets_an_assumed_window() -> None:
    resolved = CATALOG.resolve("Qwen/Qwen3-Coder")
    assert (resolved.spec.id, resolved.spec.window, resolved.spec.prices) == (
        "Qwen/Qwen3-Coder",
        ASSUMED_WINDOW,
        (),
    )
    assert "window" in resolved.notice


def test_the_users_window_wins_and_the_rest_is_kept() -> None:
    extended = CATALOG.extended({"deepseek-flash": {"window": 65_536, "images": None}})
    spec = extended.resolve("flash").spec
    assert (spec.window, spec.images, spec.prices) == (65_536, True, FLASH.prices)
    assert spec.max_output <= 65_536
    assert CATALOG.resolve("flash").spec == FLASH


def test_the_users_own_model_has_the_users_price() -> None:
    extended = CATALOG.extended(
        {"local": {"window": 8192, "thinking": False, "price_miss": 2.0, "price_output": 8}}, currency="CNY"
    )
    spec = extended.resolve("local").spec
    assert (spec.window, spec.efforts) == (8192, ("off",))
    priced = price(spec, Usage(prompt=1_000_000, hit=0, completion=1_000_000), WEDNESDAY, "CNY")
    assert priced.money is not None and priced.money.amount == pytest.approx(10.0)
    assert price(spec, Usage(prompt=10), WEDNESDAY, "USD").money is None


def test_a_former_name_with_an_own_entry_is_sent_as_it_is() -> None:
    extended = CATALOG.extended(
        {"deepseek-v4-flash": {"window": 200_000}, "deepseek-chat": {"window": 64_000}}
    )
    assert extended.resolve("deepseek-v4-flash").spec.id == "deepseek-v4-flash"
    assert extended.resolve("deepseek-v4-flash").spec.prices == FLASH.prices
    assert extended.resolve("deepseek-chat").spec.window == 64_000


@pytest.mark.parametrize(
    ("hour", "peak"),
    [(0, False), (1, True), (3, True), (4, False), (6, True), (9, True), (10, False), (20, False)],
)
def test_peak_is_one_to_four_and_six_to_ten_utc_on_weekdays(hour: int, peak: bool) -> None:
    assert is_peak(WEDNESDAY.replace(hour=hour)) is peak
    assert not is_peak(WEDNESDAY.replace(hour=hour) + timedelta(days=3))


def test_public_holidays_and_made_up_weekend_days_are_off_peak() -> None:
    assert not is_peak(datetime(2026, 10, 1, 2, tzinfo=UTC))
    assert not is_peak(datetime(2026, 10, 10, 2, tzinfo=UTC))
    assert is_peak(datetime(2026, 10, 8, 2, tzinfo=UTC))
    assert is_peak(datetime(2026, 10, 1, 2, tzinfo=UTC), holidays=frozenset())
    assert {day.year for day in HOLIDAYS} == {2026, 2027}


def test_a_moment_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        is_peak(datetime(2026, 11, 25, 2))


@settings(max_examples=count(100, 2000), deadline=None)
@given(MOMENTS)
def test_the_next_change_is_a_change_and_the_first_one(at: datetime) -> None:
    then = next_change(at)
    assert then > at
    assert is_peak(then) != is_peak(at)
    probes = (at + (then - at) * part / 16 for part in range(16))
    assert all(is_peak(probe) == is_peak(at) for probe in probes)


@pytest.mark.parametrize(
    ("spec", "at", "currency", "amount"),
    [
        (FLASH, WEDNESDAY, "USD", 0.003 + 0.15 + 0.60),
        (FLASH, WEDNESDAY.replace(hour=2), "USD", 0.006 + 0.30 + 1.20),
        (FLASH, WEDNESDAY, "CNY", 0.02 + 1 + 4),
        (PRO, WEDNESDAY.replace(hour=7), "CNY", 0.30 + 9 + 27),
        (PRO, WEDNESDAY, "USD", 0.022 + 0.66 + 1.98),
        (FLASH, datetime(2026, 9, 1, 12, tzinfo=UTC), "USD", 0.007 + 0.22 + 0.66),
        (FLASH, datetime(2026, 7, 1, 2, tzinfo=UTC), "USD", 0.0028 + 0.14 + 0.28),
        (PRO, datetime(2026, 7, 1, 2, tzinfo=UTC), "USD", 0.003625 + 0.435 + 0.87),
    ],
)
def test_a_response_is_priced_by_its_time_and_tier(spec, at, currency, amount) -> None:
    usage = Usage(prompt=2_000_000, hit=1_000_000, miss=1_000_000, completion=1_000_000, reasoning=900_000)
    money = price(spec, usage, at, currency).money
    assert money is not None
    assert (money.amount, money.currency) == (pytest.approx(amount), currency)


def test_an_unknown_price_is_none_not_zero() -> None:
    assert price(FLASH, Usage(prompt=1), datetime(2025, 1, 1, tzinfo=UTC)).money is None
    assert estimate_cost(FLASH, 1000, 0, WEDNESDAY, "EUR") is None


@settings(max_examples=count(100, 2000), deadline=None)
@given(MOMENTS, st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_warm_prompt_never_costs_more_than_a_cold_one(at: datetime, prompt: int, hit: int) -> None:
    cold, warm = estimate_cost(PRO, prompt, 0, at), estimate_cost(PRO, prompt, hit, at)
    if cold is not None and warm is not None:
        assert 0 <= warm.amount <= cold.amount
