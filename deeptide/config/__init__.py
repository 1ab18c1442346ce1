"""What the user may set and where the house keeps its files.

Invariant: every setting is declared once, in `schema`, with its type, default and meaning; files, environment
and flags are only layers over it, and a wrong value is named with its file, key and what is allowed.
"""
