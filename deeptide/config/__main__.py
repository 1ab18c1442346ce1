"""`python -m deeptide.config` prints the example settings file; the one in the checkout is made by it."""

from __future__ import annotations

import sys

from deeptide.config.example import example

sys.stdout.write(example())
