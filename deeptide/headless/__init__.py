"""One prompt, no human: for scripts and CI.

Invariant: it is a reader of a session's events like the terminal app is; standard output holds only the
answer (or the chosen machine format), everything else goes to standard error.
"""
