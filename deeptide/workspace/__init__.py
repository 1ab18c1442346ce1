"""The machine's own things: files of any encoding, the ignore rules, shells, git.

Invariant: everything written to disk goes through `files`, and no process started here outlives its call.
"""
