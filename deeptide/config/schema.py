"""Every setting: its type, its default and what it means.

Invariant: a setting stands here only if something reads it, and its meaning is one line. The example file,
the loader's error texts and `deeptide config` are all made from this module.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from deeptide.protocol.approvals import Mode

Effort = Literal["off", "low", "high", "max"]
Currency = Literal["USD", "CNY"]
Automatic = Literal["guard", "ladder", "ask", "off"]
Percent = Annotated[int, Meta(ge=10, le=99)]
Positive = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]
Amount = Annotated[float, Meta(ge=0)]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table of the settings file."""


class ModelSettings(Section, frozen=True):
    """Which model answers, and where it is asked."""

    name: Annotated[str, Meta(min_length=1, description="Model id or alias.")] = "deepseek-flash"
    effort: Annotated[Effort, Meta(description="How much it thinks before answering.")] = "high"
    base_url: Annotated[
        str,
        Meta(
            pattern=r"^https?://[^\s/]",
            description="Address of any OpenAI-compatible endpoint (http or https).",
        ),
    ] = "https://api.deepseek.com"
    currency: Annotated[Currency, Meta(description="Currency of shown prices and of the money limits.")] = (
        "USD"
    )


class ModelEntry(Section, frozen=True):
    """What the catalogue should know about one model; what is left out keeps the catalogue's value.

    Prices are in the currency of [model], per 1,000,000 tokens."""

    window: Annotated[Positive | None, Meta(description="Context window in tokens.")] = None
    max_output: Annotated[Positive | None, Meta(description="Most tokens one answer may have.")] = None
    thinking: Annotated[bool | None, Meta(description="Whether the model can think before it answers.")] = (
        None
    )
    images: Annotated[bool | None, Meta(description="Whether the model can see images.")] = None
    price_hit: Annotated[Amount | None, Meta(description="Price of input read from the cache.")] = None
    price_miss: Annotated[Amount | None, Meta(description="Price of other input.")] = None
    price_output: Annotated[Amount | None, Meta(description="Price of output.")] = None


class ContextSettings(Section, frozen=True):
    """How a long session is kept inside the window. Percentages are of the usable window."""

    automatic: Annotated[
        Automatic, Meta(description="What may be rewritten unasked: guard acts only inside a running turn.")
    ] = "guard"
    soft_limit: Annotated[
        Percent, Meta(description="Compact at this percent, where `automatic` allows it.")
    ] = 85
    evict_at: Annotated[
        Percent, Meta(description="For a later version, which will evict old tool output here.")
    ] = 80
    auto_compact: Annotated[
        bool, Meta(description="Compact at the end of a response above the next setting.")
    ] = False
    auto_compact_at: Annotated[
        Annotated[int, Meta(ge=50, le=99)], Meta(description="The percent at which auto-compact fires.")
    ] = 95
    summary: Annotated[
        Literal["narrative", "ledger"],
        Meta(description="Compaction writes prose over the ledger, or the ledger alone (no request)."),
    ] = "narrative"


class PermissionSettings(Section, frozen=True):
    """What the agent may do without asking. Deny beats ask beats allow. Rules read like `run git commit`,
    `write docs/*`, `network example.org` or `tool shell`."""

    mode: Annotated[Mode, Meta(description="The mode a session starts in.")] = "ask"
    allow: Annotated[tuple[str, ...], Meta(description="Rules for what runs without a question.")] = ()
    ask: Annotated[tuple[str, ...], Meta(description="Rules for what is always asked.")] = ()
    deny: Annotated[tuple[str, ...], Meta(description="Rules for what never runs.")] = ()


class LimitSettings(Section, frozen=True):
    """Where a turn stops by itself. 0 is no limit."""

    max_turns: Annotated[Count, Meta(description="Most requests to the model in one turn.")] = 200
    max_cost_turn: Annotated[Amount, Meta(description="Most money one turn may cost.")] = 0.0
    max_cost_session: Annotated[Amount, Meta(description="Most money one session may cost.")] = 0.0
    tool_timeout_s: Annotated[Positive, Meta(description="Seconds a shell command may run.")] = 120


class UiSettings(Section, frozen=True):
    """How the terminal app looks and sounds."""

    theme: Annotated[
        Literal["auto", "dark", "light", "contrast", "mono"], Meta(description="Colours; auto is dark.")
    ] = "auto"
    bell: Annotated[bool, Meta(description="Ring the bell when a turn ends or a question waits.")] = True
    notify: Annotated[bool, Meta(description="Send a desktop notice through the terminal as well.")] = True


class Settings(Section, frozen=True):
    """All settings in force. Made by `load`; unpacked by wiring and never carried further inward."""

    model: ModelSettings = ModelSettings()
    models: dict[str, ModelEntry] = {}
    context: ContextSettings = ContextSettings()
    permissions: PermissionSettings = PermissionSettings()
    limits: LimitSettings = LimitSettings()
    ui: UiSettings = UiSettings()


SECTIONS: dict[str, type[Section]] = {
    "model": ModelSettings,
    "context": ContextSettings,
    "permissions": PermissionSettings,
    "limits": LimitSettings,
    "ui": UiSettings,
}


class Setting(msgspec.Struct, frozen=True):
    """One setting as declared. `key` is dotted (`context.soft_limit`); `allowed` is a phrase."""

    key: str
    type: Any
    default: Any

    @property
    def meaning(self) -> str:
        return next((mark.description for mark in reversed(_metas(self.type)[0]) if mark.description), "")

    @property
    def allowed(self) -> str:
        return _allowed(self.type)


def settings_of(section: str, struct: type[Section]) -> tuple[Setting, ...]:
    """The settings one table holds, in declared order."""
    return tuple(
        Setting(f"{section}.{field.name}", field.type, field.default)
        for field in msgspec.structs.fields(struct)
    )


def all_settings() -> dict[str, Setting]:
    """Every setting of the fixed tables by its dotted key."""
    found = (setting for name, struct in SECTIONS.items() for setting in settings_of(name, struct))
    return {setting.key: setting for setting in found}


def _metas(kind: Any) -> tuple[list[Meta], Any]:
    """The Meta marks of a type, outermost last, and the bare type below (None in a union is left out)."""
    if get_origin(kind) is Annotated:
        inner, *marks = get_args(kind)
        below, bare = _metas(inner)
        return [*below, *(mark for mark in marks if isinstance(mark, Meta))], bare
    parts = [part for part in get_args(kind) if part is not type(None)]
    if type(None) in get_args(kind) and len(parts) == 1:
        return _metas(parts[0])
    return [], kind


def _allowed(kind: Any) -> str:
    marks, bare = _metas(kind)
    low = next((mark.ge for mark in marks if mark.ge is not None), None)
    high = next((mark.le for mark in marks if mark.le is not None), None)
    if get_origin(bare) is Literal:
        return "one of " + ", ".join(str(choice) for choice in get_args(bare))
    if bare is bool:
        return "true or false"
    if bare is int or bare is float:
        noun = "a whole number" if bare is int else "a number"
        if low is not None and high is not None:
            return f"{noun} from {low} to {high}"
        return f"{noun}, at least {low}" if low is not None else noun
    if bare is str:
        is_url = any(mark.pattern for mark in marks)
        return "an address that starts with http:// or https://" if is_url else "text that is not empty"
    return "a list of texts"
