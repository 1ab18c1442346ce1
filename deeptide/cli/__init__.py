"""The command line: argv in, one front end, an exit code out.

Invariant: nothing slow is imported until the command is known to be right; a wrong one is exit code 2 with
one sentence and what to do, never a traceback.
"""
