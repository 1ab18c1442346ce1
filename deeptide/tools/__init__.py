"""What the agent can do to the world, one small tool each, and the one way their calls are read and capped.

Invariant: a tool changes nothing before its `run`, its preview is exactly what `run` then does, and no result
longer than the cap enters the history.
"""
