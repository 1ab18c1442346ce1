"""What the service knows about its models, and its limits.

Invariant: these figures are the service's own statement; the client's catalogue is never read here.
"""

from __future__ import annotations

from dataclasses import dataclass

SERVICE_WINDOW = 1_048_565
MAX_OUTPUT = 393_216
DEFAULT_OUTPUT = 8_192
DEFAULT_OUTPUT_THINKING = 65_536
MAX_TOOLS = 128
MAX_STOPS = 16
MAX_USER_ID_BYTES = 512
IMAGE_TOKENS = 384
QUEUE_LIMIT_S = 600.0


@dataclass(frozen=True)
class Model:
    """`id` is what a response names. `listed` says whether `GET /models` shows it."""

    id: str
    images: bool = False
    listed: bool = True


FLASH = Model("deepseek-flash", images=True)
PRO = Model("deepseek-v4-pro")

ACCEPTED: dict[str, Model] = {
    "deepseek-flash": FLASH,
    "deepseek-v4-pro": PRO,
    "deepseek-v4-flash": FLASH,
    "deepseek-v4-flash-vision-exp": FLASH,
}
RETIRED = ("deepseek-chat", "deepseek-reasoner")

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max", "ultra")
ROLES = ("system", "user", "assistant", "tool", "latest_reminder")
FINISHES = ("stop", "length", "content_filter", "tool_calls", "insufficient_system_resource", "aborted")
