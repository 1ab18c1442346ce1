"""From a key to its letter on the screen: at the idle prompt, and while an answer streams."""

from __future__ import annotations

from drive import Terminal
from report import DEEPTIDE, arguments, emulator, middle, quantile, show, world

LETTERS = "hjqzxkvbnm"
PROSE = "The scheduler reads **each event** and folds it into `state`; then it repaints.\n\n"
LONG = 20
"""Letters typed before they are taken back."""


def echo_ms(terminal: Terminal, keys: int) -> list[float]:
    """Types one key at a time, at least 30 ms apart. Raises RuntimeError when a key is not shown."""
    found, typed = [], ""
    for number in range(keys):
        letter = LETTERS[(number * 7 + number // 10) % 10]
        typed += letter
        # With the caret's blank behind the letter, a letter that stood on the screen before is not taken for it.
        wanted = typed if len(typed) > 2 else f"❯ {typed}"
        at = terminal.key(letter)
        seen = terminal.wait(lambda text, wanted=wanted: wanted in text, 5.0)
        if seen is None:
            raise RuntimeError(f"{wanted!r} was not shown:\n{terminal.text()}")
        found.append((seen - at) * 1000)
        terminal.settle(0.03 + (number % 7) * 0.004)
        if len(typed) == LONG:
            for _ in typed:
                terminal.key("\x7f")
                terminal.settle(0.02)
            terminal.settle(0.2)
            typed = ""
    return found


def main() -> None:
    options = arguments(__doc__ or "", keys=100)
    script = [{"text": PROSE * 4_000, "delay": 0.01, "wire": {"chunk": 4}}]
    with world() as (project, env), emulator(script, env) as url:
        terminal = Terminal([*DEEPTIDE, "--base-url", url], cwd=project, env=env)
        try:
            if terminal.wait(lambda text: bool(text.strip())) is None:
                raise RuntimeError("nothing was painted")
            terminal.settle(3.0)
            idle = echo_ms(terminal, options.keys)
            terminal.key("\x15")
            terminal.settle(0.3)
            terminal.key("go\r")
            if terminal.wait(lambda text: text.count("scheduler reads") > 3) is None:
                raise RuntimeError("no answer streamed:\n" + terminal.text())
            before = terminal.written
            busy = echo_ms(terminal, options.keys)
            if terminal.written - before < 10_000:
                raise RuntimeError("the answer was over before the keys were")
        finally:
            terminal.close()
    rows = []
    for name, series, aim in (("idle", idle, "10"), ("streaming", busy, "30")):
        rows += [
            (f"{name}, median", middle(series), "ms", ""),
            (f"{name}, 95 %", quantile(series, 0.95), "ms", f"<= {aim}"),
            (f"{name}, worst", max(series), "ms", ""),
        ]
    show("echo", rows, options)


if __name__ == "__main__":
    main()
