"""The judge, mode by mode: the worst intent decides and the verdict says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.permissions.intents import Intent
from deeptide.permissions.policy import Policy, Verdict
from deeptide.permissions.rules import Rules
from deeptide.protocol.approvals import MODES, Mode
from deeptide.workspace.roots import Roots
from tests.deep import count

HOME = Path("/home/u")
WORKSPACE = HOME / "proj"


def policy(allow: tuple[str, ...] = (), deny: tuple[str, ...] = (), *, sandboxed: bool = False) -> Policy:
    return Policy(Roots(WORKSPACE), HOME, Rules(allow, deny), sandboxed=sandboxed)


def shell(command: str, mode: Mode = "ask", judge: Policy | None = None, folder: str = "") -> Verdict:
    return (judge or policy()).judge("shell", False, (Intent("run", command, folder),), mode)


def write(path: str, mode: Mode = "ask", judge: Policy | None = None) -> Verdict:
    return (judge or policy()).judge("edit", False, (Intent("write", path),), mode)


def read(path: str, mode: Mode = "ask", judge: Policy | None = None) -> Verdict:
    return (judge or policy()).judge("read", True, (Intent("read", path),), mode)


COMMANDS = {
    "ls -la": ("allow", "allow", "allow", "allow"),
    "echo hi > notes": ("deny", "ask", "ask", "allow"),
    "pytest -q": ("deny", "ask", "ask", "allow"),
    "git commit -m x": ("deny", "ask", "ask", "allow"),
    "git push --force": ("deny", "ask_strong", "ask_strong", "ask_strong"),
    "curl x | sh": ("deny", "ask_strong", "ask_strong", "ask_strong"),
    "rm -rf ~": ("refuse", "refuse", "refuse", "refuse"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_judged_by_mode(command: str) -> None:
    found = tuple(shell(command, mode).action for mode in MODES)
    assert found == COMMANDS[command]


WRITES = {
    "src/a.py": ("deny", "ask", "allow", "allow"),
    "/home/u/proj/new.txt": ("deny", "ask", "allow", "allow"),
    "../other/a.py": ("deny", "ask_strong", "ask_strong", "ask_strong"),
    "~/.bashrc": ("deny", "ask_strong", "ask_strong", "ask_strong"),
    ".git/hooks/pre-commit": ("deny", "ask_strong", "ask_strong", "ask_strong"),
    ".env": ("deny", "ask", "ask", "allow"),
    "/etc/hosts": ("deny", "ask_strong", "ask_strong", "ask_strong"),
    "/dev/sda": ("refuse", "refuse", "refuse", "refuse"),
}


@pytest.mark.parametrize("path", WRITES)
def test_an_edit_is_judged_by_mode(path: str) -> None:
    assert tuple(write(path, mode).action for mode in MODES) == WRITES[path]


READS = {
    "src/a.py": ("allow", "allow", "allow", "allow"),
    "/etc/hostname": ("allow", "allow", "allow", "allow"),
    ".env": ("ask", "ask", "ask", "allow"),
    ".env.example": ("allow", "allow", "allow", "allow"),
    "~/.ssh/id_ed25519": ("ask", "ask", "ask", "allow"),
    "deploy/server.pem": ("ask", "ask", "ask", "allow"),
}


@pytest.mark.parametrize("path", READS)
def test_reading_is_free_but_for_secrets(path: str) -> None:
    assert tuple(read(path, mode).action for mode in MODES) == READS[path]


@settings(max_examples=count(100, 2000), deadline=None)
@given(st.sampled_from([*COMMANDS, "ls\nfoo", "rm -rf build", "X=1 make"]), st.sampled_from(MODES))
def test_a_refusal_or_strong_question_is_never_lifted_by_rules(command: str, mode: Mode) -> None:
    wide = policy(allow=("run rm -rf", "run git push", "run ls", "run curl x", "tool shell"))
    plain, ruled = shell(command, mode), shell(command, mode, wide)
    if plain.action in {"refuse", "ask_strong", "deny"}:
        assert ruled.action == plain.action


def test_deleting_is_asked_even_when_edits_are_free() -> None:
    judge = policy()
    assert judge.judge("x", False, (Intent("delete", "src/a.py"),), "auto-edit").action == "ask"
    assert judge.judge("x", False, (Intent("delete", "."),), "yolo").action == "ask_strong"
    assert judge.judge("x", False, (Intent("delete", "~"),), "yolo").action == "refuse"


def test_the_worst_intent_decides() -> None:
    intents = (Intent("read", "a"), Intent("write", "../b"), Intent("run", "ls"))
    assert policy().judge("x", False, intents, "auto-edit").action == "ask_strong"


def test_questions_and_memory_are_free_and_unknown_tools_are_asked() -> None:
    judge = policy()
    assert judge.judge("ask_user", False, (Intent("ask", "?"),), "plan").action == "allow"
    assert judge.judge("recall", True, (Intent("memory", "x"),), "plan").action == "allow"
    assert judge.judge("look", True, (), "plan").action == "allow"
    verdict = judge.judge("mystery", False, (), "ask")
    assert (verdict.action, verdict.scope) == ("ask", "tool mystery")
    assert judge.judge("mystery", False, (), "plan").action == "deny"


def test_a_denial_in_plan_mode_tells_the_model_what_to_do() -> None:
    verdict = write("src/a.py", "plan")
    assert verdict.rule == "plan mode"
    assert "only reading" in verdict.reason
    assert "src/a.py" in verdict.reason


def test_a_stored_rule_lets_the_same_command_pass_and_no_other() -> None:
    judge = policy()
    first = shell("git commit -m one", judge=judge)
    assert first.scope == "run git commit"
    judge.rules.add(*first.rules)
    again = shell("git commit -m two", judge=judge)
    assert again.action == "allow"
    assert "git commit" in again.rule
    assert shell("git rebase main", judge=judge).action == "ask"
    assert shell("git commit -m x && rm a", judge=judge).action == "ask"
    assert shell("git commit -m x > ../log", judge=judge).action == "ask"
    assert shell("git commit -m x; git push -f", judge=judge).action == "ask_strong"
    assert shell("PATH=. git commit -m x", judge=judge).action == "ask"
    assert shell("./git commit -m x", judge=judge).action == "ask"
    assert shell("git commit -m x", "plan", judge).action == "deny"


def test_a_rule_holds_inside_wrappers_too() -> None:
    judge = policy(allow=("run git commit",))
    assert shell("timeout 5 git commit -m x", judge=judge).action == "allow"
    assert shell("bash -c 'git commit -m x'", judge=judge).action == "allow"


def test_several_segments_give_several_rules() -> None:
    verdict = shell("git add . && git commit -m x && ls")
    assert verdict.scope == "run git add; run git commit"
    judge = policy()
    assert verdict.rules == ("run git add", "run git commit")
    judge.rules.add(*verdict.rules)
    assert shell("git commit -m y", judge=judge).action == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "python -c 'print(1)'",
        "echo x > ../y",
        "node",
        "X=$Y make $Z",
        "a; b; c; d",
        "sudo ls",
        "foo $BAR",
        "'a b' c",
    ],
)
def test_no_rule_is_offered_for_what_a_rule_cannot_hold(command: str) -> None:
    assert shell(command).scope == ""


@pytest.mark.parametrize(
    ("command", "scope"),
    [
        ("npm run build -- --x", "run exactly npm run build -- --x"),
        ("python tools/x.py a", "run exactly python tools/x.py a"),
        ("python -m pytest -q", "run python -m pytest"),
        ("cargo test --all", "run cargo test"),
        ("pytest tests -q", "run pytest"),
        ("rm build/a.o", "run exactly rm build/a.o"),
        ("make all", "run exactly make all"),
        ("uv run pytest -q", "run uv run pytest; run pytest"),
        ("cd sub && pytest -q", "run pytest"),
        ("git commit --template=x", "run exactly git commit --template=x"),
        ('git commit -am "say what" --signoff', "run git commit"),
        ('git commit -m "$(cat notes)"', "run git commit"),
        ("cargo test -p core -- --nocapture", "run cargo test"),
        ("go test ./... -run X", "run go test"),
        ("npm test -- src/a.test.ts", "run npm test"),
        ("./build.sh x", "run exactly ./build.sh x"),
    ],
)
def test_a_rule_is_as_narrow_as_its_command_needs(command: str, scope: str) -> None:
    assert shell(command).scope == scope


def test_deny_beats_allow_in_every_mode() -> None:
    judge = policy(
        allow=("run git push", "write docs/*"),
        deny=("run git push", "write docs/*", "tool web", "read *.lock"),
    )
    for mode in MODES:
        assert shell("ls && git push", mode, judge).action == "deny"
        assert write("docs/a.md", mode, judge).action == "deny"
        assert read("uv.lock", mode, judge).action == "deny"
        assert judge.judge("web", True, (Intent("network", "https://x"),), mode).action == "deny"
    assert "git push" in shell("git push", "yolo", judge).reason
    assert shell("sudo git push", "yolo", judge).action == "deny"


def test_a_denied_command_that_would_destroy_is_still_refused() -> None:
    assert shell("rm -rf ~", judge=policy(deny=("run rm",))).action == "refuse"


def test_a_rule_for_a_path_holds_for_that_path() -> None:
    judge = policy()
    verdict = write("src/a.py", judge=judge)
    assert verdict.scope == "write src/a.py"
    judge.rules.add(*verdict.rules)
    assert write("src/a.py", judge=judge).action == "allow"
    assert write("/home/u/proj/src/a.py", judge=judge).action == "allow"
    assert write("src/b.py", judge=judge).action == "ask"
    judge.rules.add("read .env")
    assert read(".env", judge=judge).action == "allow"


def test_the_network_is_asked_by_host() -> None:
    judge = policy()
    verdict = judge.judge("web", True, (Intent("network", "https://example.org/x?q=1"),), "ask")
    assert (verdict.action, verdict.scope) == ("ask", "network example.org")
    judge.rules.add(*verdict.rules)
    assert (
        judge.judge("web", True, (Intent("network", "https://example.org/y"),), "auto-edit").action == "allow"
    )
    assert judge.judge("web", True, (Intent("network", "https://example.com"),), "ask").action == "ask"
    assert judge.judge("web", True, (Intent("network", "https://example.com"),), "plan").action == "deny"


def test_a_sandbox_frees_what_stays_in_the_workspace() -> None:
    judge = policy(sandboxed=True)
    assert shell("pytest -q", "auto-edit", judge).action == "allow"
    assert shell("pytest -q", "ask", judge).action == "ask"
    assert shell("npm install", "auto-edit", judge).action == "ask"


def test_a_command_is_judged_from_the_folder_it_starts_in() -> None:
    assert shell("rm -rf *", folder="src").action == "ask"
    assert shell("rm -rf *", folder=".").action == "ask_strong"
    assert shell("rm -rf *", folder="/").action == "refuse"


@settings(max_examples=count(100, 2000), deadline=None)
@given(st.text(max_size=30), st.sampled_from(MODES))
def test_every_line_gets_a_verdict_with_a_reason(line: str, mode: Mode) -> None:
    verdict = shell(line, mode)
    assert verdict.rule
    assert verdict.reason
    if verdict.action == "allow":
        assert mode == "yolo" or "reads" in verdict.rule


@pytest.mark.parametrize("path", ["a\0b", "a\ud800"])
def test_what_no_file_can_be_called_is_denied(path: str) -> None:
    assert read(path).action == write(path, "yolo").action == "deny"
