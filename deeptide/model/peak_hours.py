"""When DeepSeek's peak prices hold.

Peak is 9–12 and 14–18 o'clock in Beijing, Monday to Friday, but not on a Chinese public holiday. Days moved
to a weekend to make up for a holiday stay off-peak, since they are no weekdays.

Invariant: a pure function of the moment. Where a holiday is not known yet the day counts as peak, so a
price shown is never lower than the one charged.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone

BEIJING = timezone(timedelta(hours=8))
WINDOWS = ((time(9), time(12)), (time(14), time(18)))
"""Peak windows in Beijing time, start included, end not."""


def _days(first: str, last: str) -> frozenset[date]:
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    return frozenset(start + timedelta(days=day) for day in range((end - start).days + 1))


# 2026: notice of the General Office of the State Council of 2025-11-04.
# 2027: no notice is known here, so only the days that the regulation on public holidays fixes by itself
# (with the lunar dates of that year); the days that a notice adds around them go into this table.
HOLIDAYS: frozenset[date] = frozenset().union(
    _days("2026-01-01", "2026-01-03"),
    _days("2026-02-15", "2026-02-23"),
    _days("2026-04-04", "2026-04-06"),
    _days("2026-05-01", "2026-05-05"),
    _days("2026-06-19", "2026-06-21"),
    _days("2026-09-25", "2026-09-27"),
    _days("2026-10-01", "2026-10-07"),
    _days("2027-01-01", "2027-01-01"),
    _days("2027-02-05", "2027-02-08"),
    _days("2027-04-05", "2027-04-05"),
    _days("2027-05-01", "2027-05-02"),
    _days("2027-06-09", "2027-06-09"),
    _days("2027-09-15", "2027-09-15"),
    _days("2027-10-01", "2027-10-03"),
)


def is_peak(at: datetime, holidays: frozenset[date] = HOLIDAYS) -> bool:
    """`at` must carry a time zone; ValueError otherwise."""
    if at.tzinfo is None:
        raise ValueError("a price needs a moment with a time zone")
    there = at.astimezone(BEIJING)
    if there.weekday() >= 5 or there.date() in holidays:
        return False
    return any(start <= there.time() < end for start, end in WINDOWS)


def next_change(at: datetime, holidays: frozenset[date] = HOLIDAYS) -> datetime:
    """The next moment (UTC) at which `is_peak` turns. Within about two weeks of `at` on any real calendar."""
    now = is_peak(at, holidays)
    day = at.astimezone(BEIJING).date()
    while True:
        for edge in sorted(edge for window in WINDOWS for edge in window):
            moment = datetime.combine(day, edge, BEIJING)
            if moment > at and is_peak(moment, holidays) != now:
                return moment.astimezone(UTC)
        day += timedelta(days=1)
