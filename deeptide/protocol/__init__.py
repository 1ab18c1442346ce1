"""Values that every room shares: frozen, JSON both ways, no behaviour beyond reading themselves.

Invariant: nothing here imports another room, opens a file or holds a future, so any event can be
written to the log and read back by a front end in another process.
"""
