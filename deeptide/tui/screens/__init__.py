"""Full-screen and modal questions: pickers, help, login, trust.

Invariant: a screen returns a value through `dismiss` and changes nothing itself.
"""
