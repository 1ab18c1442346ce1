"""The standing parts of the app below the transcript: composer, approval panel, plan, activity, status.

Invariant: a widget is told what to show and posts what was asked for; none of them holds a session.
"""
