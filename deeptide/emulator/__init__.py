"""A local DeepSeek: validates, streams, caches and fails as the real service does, and answers from a script.

It serves the demo, our own tests and anyone testing an agent. Invariant: it shares no table, counter or
parser with the client, and its bytes depend only on the script and the requests seen (no clock, no chance).
"""
