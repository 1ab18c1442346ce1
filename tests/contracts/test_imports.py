"""Direction: who may import whom, and what is loaded when."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

from tests.contracts.source import ROOT, files, module_of, trees

DRAWING = {"textual", "rich"}
SLOW = {
    "openai", "httpx", "numpy", "rank_bm25", "pygments", "markdown_it", "tree_sitter_bash", "mcp", "acp", "pydantic",
}  # fmt: skip
SCREEN = ("deeptide.tui", "deeptide.cli.screen")


def python(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_room_imports_only_what_its_line_allows() -> None:
    code = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"], capture_output=True, text=True, cwd=ROOT, timeout=120
    )
    report = done.stdout + done.stderr
    assert done.returncode == 0, report[report.find("Contracts") :]


def test_no_headless_module_loads_what_draws() -> None:
    modules = [module_of(name) for name in files() if not name.endswith("__main__.py")]
    headless = [name for name in modules if not name.startswith(SCREEN)]
    assert len(headless) > 50
    code = (
        "import importlib, json, sys\n"
        # httpx brings a command line of its own, which takes Rich when it can; without it nothing of ours may.
        "sys.modules['httpx._main'] = None\n"
        "drawing = set(json.loads(sys.argv[1]))\n"
        "for name in json.loads(sys.argv[2]):\n"
        "    importlib.import_module(name)\n"
        "    found = drawing & set(sys.modules)\n"
        "    assert not found, f'{name} loads {found}'\n"
    )
    python(code, json.dumps(sorted(DRAWING)), json.dumps(headless))


CONNECTING = {"urllib.request", "http.client", "socket", "aiohttp", "websockets", "ftplib", "smtplib"}


def test_no_room_but_model_and_emulator_connects_by_other_means() -> None:
    for name, tree in trees().items():
        if name.startswith(("deeptide/model/", "deeptide/emulator/")):
            continue
        for node in ast.walk(tree):
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            imported += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not CONNECTING & set(imported), f"{name}:{getattr(node, 'lineno', 0)}"


FIRST_PAINT = """
import asyncio, json, os, sys, threading
from pathlib import Path
import deeptide.cli.main
import deeptide.cli.screen
from deeptide.tui.app import DeepTideApp

def never_built():
    threading.Event().wait()

async def main():
    app = DeepTideApp(never_built, workspace=Path.cwd())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.is_running and app.screen.is_mounted
        print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})), flush=True)
        os._exit(0)

asyncio.run(main())
"""


def test_nothing_slow_is_loaded_before_the_first_paint() -> None:
    loaded = set(json.loads(python(FIRST_PAINT).splitlines()[-1]))
    assert "textual" in loaded
    assert loaded & SLOW == set()


def test_the_house_is_built_without_the_model_library() -> None:
    code = (
        "import sys; from pathlib import Path; from deeptide.wiring.house import House, Options\n"
        "House(Options(workspace=Path.cwd()))\n"
        "print(*sorted({'openai', 'httpx', 'numpy', 'pydantic', 'deeptide.emulator'} & set(sys.modules)))"
    )
    assert python(code).split() == []


def test_the_version_is_answered_before_anything_is_imported() -> None:
    code = (
        "import sys; sys.argv = ['deeptide', '--version']; before = set(sys.modules)\n"
        "from deeptide.__main__ import main; main()\n"
        "print(*sorted(set(sys.modules) - before - {'__future__'}))"
    )
    version, loaded = python(code).splitlines()
    assert version.startswith("deeptide ")
    assert loaded.split() == ["deeptide", "deeptide.__main__"]


def test_help_needs_neither_settings_nor_a_screen() -> None:
    code = (
        "import sys; from deeptide.cli.main import main\n"
        "assert main(['--help']) == 0 and main(['exec', '--help']) == 0\n"
        "assert not {'textual', 'platformdirs', 'tomllib', 'deeptide.config', 'asyncio'} & set(sys.modules)"
    )
    assert "usage: deeptide" in python(code)
