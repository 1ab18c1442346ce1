"""Everything a person can type after a slash.

Invariant: a command acts through the session's doors and answers with a value; it draws nothing, asks nothing
and knows no front end.
"""
