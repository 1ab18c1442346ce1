"""Base classes of every error a user can meet; leaves live in the room that raises them.

    DeepTideError            something a person can read: what happened, what was kept, what to do
    ├── UsageError           the call was wrong: a flag, a setting, a command argument      (exit 2)
    ├── ConfigError          a settings file or value is wrong                              (exit 2)
    ├── WorkspaceError       a file or folder could not be read, written or locked          (exit 1)
    ├── SessionError         a session could not be opened, is held, or is unknown          (exit 1)
    ├── ModelError           the provider refused or failed                                 (exit 1 or 75)
    ├── ToolError            a tool cannot do what was asked; its text goes to the model
    └── LimitReached         a turn, token, time or money cap was met                       (exit 3 or 4)

Invariant: `str(error)` is one sentence of what happened; `advice` is what to do next. Both are shown.
"""

from __future__ import annotations


class DeepTideError(Exception):
    """`advice`: the next step for the reader, or empty. `exit_code`: what a headless run ends with."""

    exit_code = 1

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class UsageError(DeepTideError):
    exit_code = 2


class ConfigError(DeepTideError):
    exit_code = 2


class WorkspaceError(DeepTideError):
    pass


class SessionError(DeepTideError):
    pass


class ModelError(DeepTideError):
    pass


class ToolError(DeepTideError):
    pass


class LimitReached(DeepTideError):
    exit_code = 3
