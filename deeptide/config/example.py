"""The example settings file, made from the schema so that it cannot drift.

Invariant: uncommenting every line of it gives exactly the defaults.
"""

from __future__ import annotations

import textwrap

import tomli_w

from deeptide.config.schema import SECTIONS, ModelEntry, Setting, settings_of

_HEAD = """\
## Settings of DeepTide, with their defaults. Made by `deeptide config --example`.
## Your own file is ~/.config/deeptide/config.toml (or config.toml in DEEPTIDE_HOME); a trusted project may
## add .deeptide/config.toml. Later layers win: your file, the project's, DEEPTIDE_<SECTION>_<KEY>, flags.
"""
_SAMPLE: dict[str, object] = {
    "window": 131072,
    "max_output": 32768,
    "thinking": True,
    "images": False,
    "price_hit": 0.05,
    "price_miss": 0.5,
    "price_output": 1.5,
}


def example() -> str:
    """The whole text of `config.example.toml`."""
    parts = [_HEAD]
    for name, struct in SECTIONS.items():
        parts.append(_table(f"[{name}]", struct.__doc__ or "", settings_of(name, struct), {}))
        if name == "model":
            entry = settings_of("models", ModelEntry)
            parts.append(_table('[models."my-model"]', ModelEntry.__doc__ or "", entry, _SAMPLE))
    return "\n".join(parts)


def toml_line(key: str, value: object) -> str:
    """`key = value` as TOML on one line; tuples are written as lists."""
    plain = list(value) if isinstance(value, tuple) else value
    if isinstance(plain, list):
        items = (tomli_w.dumps({"x": item}).strip().removeprefix("x = ") for item in plain)
        return f"{key} = [{', '.join(items)}]"
    return tomli_w.dumps({key: plain}).strip()


def _table(head: str, doc: str, settings: tuple[Setting, ...], sample: dict[str, object]) -> str:
    about = textwrap.fill(" ".join(doc.split()), 108, initial_indent="## ", subsequent_indent="## ")
    lines = [about, f"# {head}" if sample else head]
    for setting in settings:
        name = setting.key.partition(".")[2]
        lines.append(f"## {setting.meaning} ({setting.allowed})")
        lines.append(f"# {toml_line(name, sample.get(name, setting.default))}")
    return "\n".join(lines) + "\n"
