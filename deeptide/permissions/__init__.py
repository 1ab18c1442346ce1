"""What a call would touch, what the rules say to it, and the questions that wait for a human.

Invariant: whatever is not understood is asked about, never allowed; a refusal holds in every mode.
"""
