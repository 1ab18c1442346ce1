"""Sizes and names, so that no room swells unnoticed."""

from __future__ import annotations

import ast
import re

import pytest

from tests.contracts.source import PACKAGE, ROOT, files, module_of, trees

MAX_FILE, MAX_METHODS = 500, 40
TIGHTER = {"deeptide/agent/loop.py": 150, "deeptide/tui/app.py": 300}
BANNED = {"utils", "util", "helpers", "helper", "common", "core", "manager", "misc", "shared"}
ROOMS = {
    "agent", "cli", "commands", "config", "context", "emulator", "headless", "model", "permissions",
    "prompts", "protocol", "recall", "session", "tools", "transcript", "tui", "wiring", "workspace",
}  # fmt: skip

LATE = {
    ("deeptide.__main__", "deeptide.cli.main"): "--version must not pay for argparse",
    ("deeptide.cli.main", "deeptide.cli.screen"): "Textual takes 0.2 s",
    ("deeptide.cli.main", "deeptide.cli.once"): "the agent takes 0.2 s",
    ("deeptide.cli.main", "deeptide.cli.serve"): "only `emulator` needs it",
    ("deeptide.cli.main", "deeptide.cli.doctor"): "only `doctor` needs it",
    ("deeptide.cli.main", "deeptide.cli.sessions"): "only `sessions` needs it",
    ("deeptide.cli.main", "deeptide.cli.settings"): "only `config` needs it",
    ("deeptide.cli.main", "deeptide.cli.keys"): "only `login` and `logout` need it",
    ("deeptide.cli.screen", "deeptide.cli.opening"): "built after the first paint",
    ("deeptide.cli.screen", "deeptide.wiring.house"): "built after the first paint",
    ("deeptide.wiring.house", "deeptide.wiring.demo"): "only `demo` needs the emulator and, so early, httpx",
    ("deeptide.recall.bm25", "rank_bm25"): "numpy takes 0.1 s and 25 MB, and few sessions search",
    ("deeptide.permissions.shell_words", "tree_sitter"): "only a shell call needs it",
    ("deeptide.permissions.shell_words", "tree_sitter_bash"): "only a shell call needs it",
    ("deeptide.workspace.ignore", "pathspec"): "only a walk with ignore files needs it",
}
"""(importer, imported inside a function): why. One that is not used any more is an error."""


@pytest.mark.parametrize("name", files())
def test_a_file_is_short_enough_to_read_at_one_sitting(name: str) -> None:
    assert files()[name].count("\n") <= TIGHTER.get(name, MAX_FILE)


def test_the_files_with_a_tighter_limit_are_where_they_are_said_to_be() -> None:
    assert set(TIGHTER) <= set(files())


def test_no_class_has_more_methods_than_a_reader_can_hold() -> None:
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                methods = [
                    part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
                ]
                assert len(methods) <= MAX_METHODS, f"{name}: {node.name} has {len(methods)} methods"


def test_no_room_or_file_has_a_name_that_invites_everything() -> None:
    for path in PACKAGE.rglob("*"):
        stem = path.stem
        assert stem not in BANNED and not stem.startswith("base_"), path.relative_to(ROOT)


def test_the_rooms_are_the_planned_ones() -> None:
    found = {path.name for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert found == ROOMS


def test_every_module_says_why_it_exists() -> None:
    for name, tree in trees().items():
        assert ast.get_docstring(tree), f"{name} has no docstring"


def test_a_rooms_front_page_holds_only_its_reason() -> None:
    for name, tree in trees().items():
        if name.endswith("/__init__.py") and name != "deeptide/__init__.py":
            assert len(tree.body) == 1, f"{name} holds more than its docstring"


def test_annotations_are_never_evaluated_by_accident() -> None:
    for name, tree in trees().items():
        code = [node for node in tree.body if not isinstance(node, ast.Expr)]
        if not code or name == "deeptide/__init__.py":
            continue
        first = code[0]
        assert isinstance(first, ast.ImportFrom) and first.module == "__future__", name


def test_no_import_is_relative() -> None:
    for name, tree in trees().items():
        for node in ast.walk(tree):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{name}:{node.lineno}"


def test_imports_inside_functions_are_listed_with_a_reason_and_no_reason_is_stale() -> None:
    found = {(module_of(name), target) for name, tree in trees().items() for target in late_imports(tree)}
    assert found - set(LATE) == set(), "import at the top, or list it in LATE with its reason"
    assert set(LATE) - found == set(), "this exemption is not used any more"


def late_imports(tree: ast.Module) -> set[str]:
    """Modules imported inside a function."""
    targets: set[str] = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom) and node.module:
                targets.add(node.module)
            elif isinstance(node, ast.Import):
                targets.update(alias.name for alias in node.names)
    return targets


def test_size_and_type_rules_are_not_waved_through() -> None:
    for name, text in files().items():
        for number, line in enumerate(text.splitlines(), 1):
            assert not re.search(r"#\s*noqa(?!: \w)", line), f"{name}:{number}: name the lint rule"
            assert not re.search(r"#\s*noqa:.*(PLR|C901|E501)", line), f"{name}:{number}: a size rule"
            assert not re.search(r"#\s*type:\s*ignore(?!\[)", line), f"{name}:{number}: name the error"


MARK = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def test_nothing_is_left_for_later_in_the_code() -> None:
    for name, text in files().items():
        assert not MARK.search(text), name


def test_no_folder_of_the_machine_it_is_made_on_is_named() -> None:
    folder = re.compile(re.escape(f"{ROOT.parent}/") + r"\w")
    for path in (*PACKAGE.rglob("*"), *(ROOT / "prompts").rglob("*"), *(ROOT / "docs").rglob("*")):
        if path.suffix in (".py", ".md", ".toml", ".tcss"):
            assert not folder.search(path.read_text(encoding="utf-8")), path
