"""Finding again what left the view: archives of past cycles, and a search over everything that was said.

Invariant: an archive is derived from the log, complete before it has its name, and never written over.
"""
