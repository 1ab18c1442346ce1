"""The terminal front end: draws what sessions say and turns keys into calls on them.

Invariant: this room holds no state that the session's log does not hold, except what is on the screen.
"""
