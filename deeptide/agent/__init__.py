"""The agent: one turn is request, answer, calls, results, until an answer has no calls.

Invariant: whatever happens (Esc, a fault, a limit), when a turn is over the history is valid: every call has
its result and the log says how the turn ended.
"""
