"""The words for the model: every prompt is a Markdown file, kept apart from the code that sends it.

Invariant: a text is rendered only with exactly the slots it names, and the same files with the same slot
values always give the same bytes, because they become part of a cached request prefix.
"""
