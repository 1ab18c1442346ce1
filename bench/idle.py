"""What it costs to leave it open: CPU and bytes written at an idle prompt, and memory, before and after a talk."""

from __future__ import annotations

from drive import Terminal
from report import DEEPTIDE, arguments, emulator, show, world


def quiet(terminal: Terminal, seconds: int) -> tuple[float, int]:
    """CPU in percent of one core, and bytes written to the terminal, over `seconds`."""
    before, written = terminal.cpu_s(), terminal.written
    terminal.settle(seconds)
    return 100 * (terminal.cpu_s() - before) / seconds, terminal.written - written


def main() -> None:
    options = arguments(__doc__ or "", seconds=10)
    with world() as (project, env), emulator([{"text": "# pong\n\n- one\n- two\n" * 50 + "END"}], env) as url:
        terminal = Terminal([*DEEPTIDE, "--base-url", url], cwd=project, env=env)
        try:
            if terminal.wait(lambda text: bool(text.strip())) is None:
                raise RuntimeError("nothing was painted")
            terminal.settle(4.0)
            fresh, fresh_bytes = quiet(terminal, options.seconds)
            fresh_mb = terminal.rss_mb()
            terminal.key("ping\r")
            if terminal.wait(lambda text: "END" in text) is None:
                raise RuntimeError("no answer:\n" + terminal.text())
            terminal.settle(3.0)
            after, after_bytes = quiet(terminal, options.seconds)
            after_mb = terminal.rss_mb()
        finally:
            terminal.close()
    show(
        "idle",
        [
            ("CPU at a fresh prompt", fresh, "%", "< 1"),
            ("written meanwhile", fresh_bytes, "B", "0"),
            ("CPU after a turn", after, "%", "< 1"),
            ("written after a turn", after_bytes, "B", "0"),
            ("memory at a fresh prompt", fresh_mb, "MB", "<= 110"),
            ("memory after a turn", after_mb, "MB", "<= 110"),
        ],
        options,
    )


if __name__ == "__main__":
    main()
