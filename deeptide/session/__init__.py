"""One talk: its log, its two doors, and the way back to it tomorrow.

Invariant: the log is the truth. Everything else here (the fold, the queue of readers, the list of sessions) can
be built again from it.
"""
