"""The demo's story is true: played with real files and a real shell it repairs the sample project."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from deeptide.emulator.counting import count_tokens
from deeptide.emulator.demo import SAMPLE, demo_hint, demo_script
from deeptide.emulator.demo_words import WORDS
from deeptide.emulator.emulator import Emulator
from tests.fakes.scripts import post, request, tool

HEADINGS = ["## Goal", "## Constraints", "## Progress", "### Done", "### In Progress", "### Blocked",
            "## Key Decisions", "## Dead Ends", "## Next step"]  # fmt: skip
COMPACTION = "Shorten.\n\n## Goal\n## Constraints\n## Progress\n## Key Decisions\n## Dead Ends\n## Next step"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


class Talk:
    """The least client that can play: sends the history, runs the calls on real files, keeps what was said."""

    def __init__(self, root: Path, deny: str = "") -> None:
        self.root, self.deny = root, deny
        self.told = "The user denied this call."
        for name, text in SAMPLE.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        self.emulator = Emulator(demo_script(0.0))
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": "You are an agent."}]
        self.called: list[str] = []

    async def say(self, text: str) -> str:
        self.messages.append(user(text))
        while True:
            message = await self.answer()
            self.messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                result = self.run(call["function"]["name"], call["function"]["arguments"])
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})

    async def answer(self) -> dict[str, Any]:
        reply = await post(self.emulator, request(*self.messages, tools=[tool()]))
        assert reply.status_code == 200, reply.text
        message: dict[str, Any] = reply.json()["choices"][0]["message"]
        return message | {"reasoning_content": message["reasoning_content"] or "-"}

    def run(self, name: str, arguments: str) -> str:
        self.called.append(name)
        args = json.loads(arguments)
        if name == self.deny or (self.deny == "check" and "timeout_s" in args):
            return f"[ERROR] {self.told}"
        if name == "read":
            return (self.root / args["path"]).read_text(encoding="utf-8")
        if name == "edit":
            path = self.root / args["path"]
            for edit in args["edits"]:
                assert path.read_text().count(edit["old"]) == 1
                path.write_text(path.read_text().replace(edit["old"], edit["new"]))
            return f"[{args['path']} · edited +1 -1 · sha 00000000]"
        if name == "shell":
            done = subprocess.run(args["command"], shell=True, cwd=self.root, capture_output=True, text=True)
            return f"{done.stdout}{done.stderr}\nexit {done.returncode}"
        return "ok"


async def test_the_story_repairs_the_project_and_sees_the_tests_pass(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    before = subprocess.run("python3 -m unittest -q", shell=True, cwd=tmp_path, capture_output=True)
    assert before.returncode != 0
    final = await talk.say("fix the failing test")
    assert final == WORDS["en"]["final"]
    assert talk.called == ["todo", "list", "read", "shell", "todo", "read", "edit", "shell", "todo"]
    after = subprocess.run("python3 -m unittest -q", shell=True, cwd=tmp_path, capture_output=True)
    assert after.returncode == 0
    line = next(
        n
        for n, text in enumerate((tmp_path / "basket/price.py").read_text().split("\n"), 1)
        if "+ 50" in text
    )
    assert f"basket/price.py:{line}" in final


async def test_the_story_is_told_in_chinese_to_who_writes_chinese(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    assert await talk.say("请修好失败的测试") == WORDS["zh"]["final"]
    assert "multiply" not in str(talk.messages[2:]) and "先除后乘" in str(talk.messages)


async def test_notes_after_the_words_do_not_change_the_language_or_the_story(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.messages.append(user("Today is Friday.\nGit: not a repository.\nMode: ask. Edits are asked."))
    assert await talk.say("请修好测试") == WORDS["zh"]["final"]


@pytest.mark.parametrize("words", ["fix it", "修好它"])
@pytest.mark.parametrize(
    ("deny", "told", "end"),
    [
        ("edit", "The user denied this call. Use round().", "refused"),
        ("edit", "Not allowed: plan mode changes nothing (decided by: mode)", "refused"),
        ("edit", "Cancelled by the user before it ran.", "refused"),
        ("edit", "The edit: old was not found. Read the file again.", "edit_failed"),
        ("shell", "The user denied this call.", "unchecked"),
        ("check", "The user denied this call.", "unchecked"),
        ("check", "FAIL: test_discount\n\nFAILED (failures=1)\n[exit 1, 0.1 s]", "still_failing"),
    ],
)
async def test_a_call_that_did_not_work_ends_the_story_truthfully(
    tmp_path: Path, words: str, deny: str, told: str, end: str
) -> None:
    talk = Talk(tmp_path, deny)
    talk.told = told
    answer, texts = await talk.say(words), WORDS["zh" if words == "修好它" else "en"]
    assert answer == texts[end].format(result=told.split("\n")[0])
    changed = (tmp_path / "basket/price.py").read_text(encoding="utf-8") != SAMPLE["basket/price.py"]
    assert changed == (deny != "edit")
    blind = texts["read_blind"].format(result=told)
    assert (blind in [message["content"] for message in talk.messages]) == (deny == "shell")


async def test_after_a_denial_the_story_can_be_asked_for_again_and_other_words_get_other_answers(
    tmp_path: Path,
) -> None:
    talk = Talk(tmp_path, deny="edit")
    await talk.say("fix it")
    assert await talk.say("what a pity") == WORDS["en"]["guide_again"]
    talk.deny = ""
    assert await talk.say("fix the failing test") == WORDS["en"]["final"]


async def test_a_denied_edit_followed_by_words_at_once_is_not_gone_on_with(tmp_path: Path) -> None:
    talk = Talk(tmp_path, deny="edit")
    await talk.say("fix it")
    talk.messages[-1] = user("hello?")
    assert (await talk.answer())["content"] == WORDS["en"]["guide_again"]
    talk.messages[-1] = user("fix it now")
    assert (await talk.answer())["content"] == WORDS["en"]["start"]


async def test_what_is_fixed_already_is_not_fixed_again(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    await talk.say("fix it")
    assert await talk.say("run the tests again") == WORDS["en"]["already"]
    blind = Talk(tmp_path / "other", deny="shell")
    (blind.root / "basket/price.py").write_text((tmp_path / "basket/price.py").read_text())
    assert await blind.say("fix it") == WORDS["en"]["fixed_code"]
    (blind.root / "basket/price.py").write_text("x = 1\n")
    assert "did not find the line" in await blind.say("fix it")


@pytest.mark.parametrize(
    "words",
    ["hello, what is in this project?", "hi", "explain price.py", "thanks", "prefix the latest names"],
)
async def test_words_that_are_not_about_tests_get_a_friendly_answer_and_no_story(
    tmp_path: Path, words: str
) -> None:
    talk = Talk(tmp_path)
    answer = await talk.say(words)
    assert talk.called == [] and "scripted demo" in answer
    for thing in ("fix the failing test", "fill the window", "/compact", "/checkpoint", "/rewind", "/context",
                  "中文也可以"):  # fmt: skip
        assert thing in answer
    assert await talk.say("fix the failing test") == WORDS["en"]["final"]


async def test_whoever_greets_in_chinese_is_answered_in_chinese(tmp_path: Path) -> None:
    assert await Talk(tmp_path).say("你好,这个项目是什么?") == WORDS["zh"]["guide"]


def test_the_hint_fits_the_welcome_and_what_it_names_works() -> None:
    lines = demo_hint().split("\n")
    assert len(lines) == 2 and max(map(len, lines)) <= 72 and "scripted demo" in lines[0]
    script = demo_script(0.0)
    assert "fix the failing test" in lines[1] and script(request(user("fix the failing test")), 1).calls
    assert "fill the window" in lines[1] and len(script(request(user("fill the window")), 1).text) > 5000


async def test_afterwards_it_talks_and_does_not_start_again(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    await talk.say("fix it")
    called = len(talk.called)
    answers = [await talk.say("and now?"), await talk.say("and then?")]
    assert len(talk.called) == called
    assert set(answers) == {WORDS["en"]["guide_again"]}
    assert await talk.say("还能做什么?") == WORDS["zh"]["guide_again"]


async def test_after_undo_the_story_can_be_told_again_and_half_told_it_goes_on(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    await talk.say("fix it")
    told = talk.messages
    talk.messages = told[:1]
    for name, text in SAMPLE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert await talk.say("fix it") == WORDS["en"]["final"]
    half = next(n for n, message in enumerate(told) if "shell" in str(message.get("tool_calls"))) + 2
    talk.messages = [*told[:half], user("also be careful")]
    assert (await talk.answer())["tool_calls"][-1]["function"]["name"] == "read"


async def test_fill_fills_a_good_part_of_a_small_window(tmp_path: Path) -> None:
    for text, language in (("please fill it", "en"), ("fill 一下", "zh")):
        reply = await post(Emulator(demo_script(0.0)), request(user(text)))
        answer = reply.json()["choices"][0]["message"]["content"]
        assert 4000 < count_tokens(answer) < 8000
        assert answer.endswith(WORDS[language]["fill_end"])  # type: ignore[index]


async def test_a_summary_is_given_under_the_fixed_headings_and_is_smaller(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    await talk.say("fix the failing test")
    talk.messages.append(user(COMPACTION))
    summary = (await talk.answer())["content"]
    assert [line for line in summary.split("\n") if line.startswith("#")] == HEADINGS
    assert "fix the failing test" in summary and WORDS["en"]["done_fix"] in summary
    assert count_tokens(summary) < count_tokens(str(talk.messages)) / 3


async def test_nothing_is_called_done_that_was_not(tmp_path: Path) -> None:
    talk = Talk(tmp_path, deny="edit")
    await talk.say("修好它")
    talk.messages.append(user(COMPACTION))
    summary = (await talk.answer())["content"]
    assert WORDS["zh"]["done_fix"] not in summary and "### Done\n无" in summary
    talk.messages[-1] = user("## Briefing Request\n\nfive topics")
    assert "没有改动" in (await talk.answer())["content"]
    unproved = Talk(tmp_path, deny="check")
    await unproved.say("fix it")
    unproved.messages.append(user(COMPACTION))
    summary = (await unproved.answer())["content"]
    assert WORDS["en"]["done_edit"] in summary and WORDS["en"]["done_fix"] not in summary


async def test_the_story_does_not_start_again_after_a_compaction(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    talk.messages.append(user(f"[context-summary]\n{WORDS['en']['done_fix']}"))
    assert await talk.say("go on") == WORDS["en"]["guide"]
    talk.messages.append(user(COMPACTION))
    assert WORDS["en"]["done_fix"] in (await talk.answer())["content"]


@pytest.mark.parametrize(
    "marker", ["CONTEXT CHECKPOINT COMPACTION\n\nwrite", "## Briefing Request\n\nfive topics"]
)
async def test_a_briefing_is_one_closed_block(tmp_path: Path, marker: str) -> None:
    talk = Talk(tmp_path)
    await talk.say("fix it")
    talk.messages.append(user(marker))
    lines = (await talk.answer())["content"].split("\n")
    assert lines[0] == "<carry_forward>" and lines[-1] == "</carry_forward>"
    assert not any(line.lstrip().startswith(("-", "<")) for line in lines[1:-1])


def test_both_languages_say_everything() -> None:
    assert WORDS["en"].keys() == WORDS["zh"].keys()
    assert all(text.strip() for texts in WORDS.values() for text in texts.values())


def test_the_pace_is_that_of_a_model_but_the_long_answer_is_quick() -> None:
    script = demo_script(0.02)
    assert script(request(user("hello there")), 1).delay == 0.02
    assert script(request(user("fill")), 1).delay == 0
