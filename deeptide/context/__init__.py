"""What keeps a long talk alive: the fold from log to request, its meter, and everything that shrinks it.

Invariant: the view is a pure function of the records, call/result pairs are never parted, and whatever leaves
the view is reachable again by a pointer or by recall.
"""
