"""The small project that the demo works on: a shopping basket with one wrong line and a test that shows it.

Invariant: needs nothing but Python's standard library, and the tests fail until `DISCOUNT_FIX` is applied.
"""

from __future__ import annotations

SAMPLE: dict[str, str] = {
    "README.md": """# basket

A shopping basket that adds up prices in cents and takes a discount off.

    from basket.price import Line, total

    total([Line("tea", 450, 2), Line("cup", 1200)], discount_percent=10)  # 1890
""",
    "AGENTS.md": """# For agents

- Money is a whole number of cents, never a float.
- Run the tests with `python3 -m unittest -q` from this folder.
""",
    "basket/__init__.py": '"""A shopping basket."""\n',
    "basket/price.py": '''"""Prices in whole cents."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    name: str
    cents: int
    quantity: int = 1

    @property
    def total(self) -> int:
        return self.cents * self.quantity


def total(lines: list[Line], discount_percent: int = 0) -> int:
    """What the customer pays, in cents, rounded half up."""
    full = sum(line.total for line in lines)
    return full - full // 100 * discount_percent


def receipt(lines: list[Line], discount_percent: int = 0) -> str:
    rows = [f"{line.quantity} x {line.name:<12} {line.total / 100:>8.2f}" for line in lines]
    if discount_percent:
        rows.append(f"    discount     {-discount_percent:>7}%")
    rows.append(f"    total        {total(lines, discount_percent) / 100:>8.2f}")
    return "\\n".join(rows)
''',
    "tests/__init__.py": "",
    "tests/test_price.py": """import unittest

from basket.price import Line, receipt, total


class TotalTest(unittest.TestCase):
    def test_lines_add_up(self):
        self.assertEqual(total([Line("tea", 450, 2), Line("cup", 1200)]), 2100)

    def test_discount_of_round_amounts(self):
        self.assertEqual(total([Line("cup", 1200)], discount_percent=10), 1080)

    def test_discount_keeps_the_cents(self):
        self.assertEqual(total([Line("pen", 199)], discount_percent=50), 100)

    def test_receipt_shows_the_total(self):
        self.assertIn("10.80", receipt([Line("cup", 1200)], discount_percent=10))


if __name__ == "__main__":
    unittest.main()
""",
}

DISCOUNT_FIX = {
    "old": "    return full - full // 100 * discount_percent\n",
    "new": "    return (full * (100 - discount_percent) + 50) // 100\n",
}
TEST_COMMAND = "python3 -m unittest -q"
