"""What a tool call would touch, said by the tool before it runs.

Invariant: an intent is judged by its kind and target alone; how the tool does it is not the judge's business.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["read", "write", "delete", "run", "network", "ask", "memory"]


class Intent(msgspec.Struct, frozen=True):
    """`target`: a path (read, write, delete), a shell command line (run), a host or URL (network), free
    otherwise. `detail`: for run, the folder it starts in (empty: the workspace)."""

    kind: Kind
    target: str
    detail: str = ""
