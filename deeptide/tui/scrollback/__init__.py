"""The virtual transcript: one widget that draws any number of blocks by drawing only what is seen.

Invariant: what a line on the screen shows is known by section and character offset, never by cell, so
selection, links, search and the reader's place survive scrolling, streaming and a change of width.
"""
