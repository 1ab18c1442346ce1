"""What a reader sees of a session: events become blocks, and any front end draws the blocks.

Invariant: the blocks are a function of the records alone. Live events only fill in what a record will say in
a moment, so a session watched live and the same session replayed from its log end in equal blocks; all text
in a block has been cleaned of escape sequences and controls.
"""
