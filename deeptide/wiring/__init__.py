"""The only place that constructs things: settings are unpacked here and never travel further inward.

Invariant: every front end, test and bench gets its session from `House`, so there is one way it is put together.
"""
