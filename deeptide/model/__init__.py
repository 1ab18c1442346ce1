"""The provider at the other end: what is asked, what comes back, what it costs, and how it fails.

Invariant: everything but `client` is pure, so the bytes of a request are a function of the request alone and
the result of a response is a function of its bytes alone, however they were cut on the way.
"""
