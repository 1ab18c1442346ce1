"""What the demo's model says, in English and Chinese.

Invariant: both languages have every text; code, paths and commands are the same in both.
"""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "zh"]

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "think_start": (
            "The user wants the failing test fixed. I do not know this project yet, so I look first: the list "
            "of files and the tests. Then I run the tests to see the failure with my own eyes, and only then "
            "change code. That is more than three steps, so I keep a plan."
        ),
        "start": (
            "I'll find out **what fails** before I touch anything:\n\n"
            "1. look at the project and its tests\n"
            "2. run the tests and read the failure\n"
            "3. fix the cause, then run them again\n"
        ),
        "think_run": "AGENTS.md says how to run the tests. I run them before reading the code in depth.",
        "run": "The layout is small. Now the tests, to see the failure itself.",
        "think_read": (
            "199 cents with 50 % off should be 100, rounded half up. I need the code of `total`."
        ),
        "read": "One test is about cents that get lost in a discount. The rule lives in `basket/price.py`.",
        "think_edit": (
            "`full // 100 * discount_percent` divides first: 199 // 100 is 1, so the discount is 50 cents and "
            "the result 149. Multiply first, then divide, adding 50 for rounding half up: "
            "(199 * 50 + 50) // 100 = 100. For 1200 and 10 %: (1200 * 90 + 50) // 100 = 1080. Good."
        ),
        "edit": (
            "Found it. `full // 100 * discount_percent` **divides before it multiplies**, so everything below "
            "a whole unit is lost: for 199 cents the discount is taken from 100.\n\n"
            "The fix multiplies first and rounds half up, as the docstring promises:"
        ),
        "check": "Now the proof: the same command again.",
        "think_done": "The run shows whether it holds. I close the plan accordingly.",
        "done": "All green. Closing the plan.",
        "final": (
            "Fixed, and checked here.\n\n"
            "- **Cause**: `total` in `basket/price.py:20` divided by 100 before multiplying by the discount, "
            "which threw away the cents.\n"
            "- **Change**: one line; it multiplies first and rounds half up:\n\n"
            "```python\nreturn (full * (100 - discount_percent) + 50) // 100\n```\n\n"
            "- **Check**: `python3 -m unittest -q` passes, all 4 tests.\n\n"
            "| amount | discount | before | now |\n|--:|--:|--:|--:|\n| 199 | 50 % | 149 | 100 |\n"
            "| 1200 | 10 % | 1080 | 1080 |\n\n"
            "Open: discounts over 100 % are not refused; say so if they should be."
        ),
        "unchecked": (
            "The line in `basket/price.py` is changed, but **I did not see the tests pass**: the last run was "
            "not allowed or did not succeed. Run `python3 -m unittest -q` yourself, or let me try again. "
            "`/undo` takes this turn back."
        ),
        "refused": (
            "I changed nothing: the edit was not allowed. What I would do, in `basket/price.py`:\n\n"
            "```diff\n-    return full - full // 100 * discount_percent\n"
            "+    return (full * (100 - discount_percent) + 50) // 100\n```\n\n"
            "It divides before it multiplies, so the cents are lost. Allow the edit (Shift+Tab changes the "
            "mode) and ask me again."
        ),
        "think_generic": "This is a demo; a short useful answer about what can be tried is best.",
        "generic_0": (
            "I'm the demo's scripted model, so I know one story by heart and little else. The program around "
            "me is real, though. Things to try:\n\n"
            "- `/context` shows what fills the window, `/cost` and `/cache` what it costs\n"
            "- `/checkpoint before the next idea`, then `/rewind`\n"
            "- write **fill** a few times: the window is small here, so the warnings at 80, 90 and 95 % speak\n"
            "- `/compact` then folds the older talk into a summary; `/compact undo` brings it back\n"
            "- `!git status` or any `!command` runs in your own shell\n"
        ),
        "generic_1": (
            "Noted. In a real session I would look into the project now; here I can only repeat that "
            "`basket/price.py` is the interesting file.\n\n"
            "```python\nfrom basket.price import Line, total\n\ntotal([Line('pen', 199)], 50)  # 100\n```\n\n"
            "Try `/effort max`, `/model`, `/export`, or leave with `/quit` and come back with `/resume`."
        ),
        "fill_intro": "A long answer, to fill the window. Every line is different, like a real log:\n\n",
        "fill_line": "{n:04d}  basket {a} holds {b} lines and costs {c} cents before the discount of {d} %\n",
        "fill_end": "\nThat was a good part of this window. `/context` shows how much is left.",
        "goal": "See DeepTide at work on the sample project `basket`. The user's words: {words}",
        "constraints": "Money is a whole number of cents (AGENTS.md). Tests run with `python3 -m unittest -q`.",
        "done_fix": "The discount in `basket/price.py` multiplies before it divides; seen to pass by the tests.",
        "done_none": "none",
        "decisions": (
            "Round half up with `(full * (100 - discount_percent) + 50) // 100`, in whole cents, because floats "
            "are ruled out; `round()` was rejected as it rounds half to even."
        ),
        "dead_ends": "none",
        "next": "Ask the user what to look at next.",
        "briefing": (
            "The work is on the sample project `basket`. The discount in `basket/price.py` was computed by "
            "dividing before multiplying, which lost the cents; we chose integer arithmetic with rounding half "
            "up because AGENTS.md rules out floats. Rounding by `round()` was rejected: it rounds half to "
            "even, which the docstring does not promise.\n\n"
            "The user asked: {words}. Nothing is being tested at the moment. Still to ask: whether a discount "
            "over 100 % must be refused."
        ),
        "think_check": "The edit is in. The same command must pass now; nothing else counts as proof.",
        "think_final": "The user needs the cause, the change and the check, in a few lines, and what is open.",
        "think_refused": "I must not claim more than happened here.",
        "think_fill": "The user wants to see the window fill. I write many lines and keep them cheap to check.",
        "think_summary": "I write down what was done and seen, and nothing else.",
        "words_unseen": "see the ledger",
    },
    "zh": {
        "think_start": (
            "用户要修好失败的测试。我还不了解这个项目,所以先看文件列表和测试,再亲自运行一次看到失败,"
            "最后才改代码。步骤多于三步,先写计划。"
        ),
        "start": (
            "动手之前,我先弄清楚**到底哪里失败**:\n\n1. 看项目和测试\n2. 运行测试,读失败信息\n"
            "3. 修好原因,再运行一遍\n"
        ),
        "think_run": "AGENTS.md 写了怎么运行测试。先运行,再细读代码。",
        "run": "项目不大。现在运行测试,看看真正的失败。",
        "think_read": "199 分打五折,四舍五入应为 100。需要看 `total` 的代码。",
        "read": "有一个测试是关于打折时丢掉零头的。规则在 `basket/price.py` 里。",
        "think_edit": (
            "`full // 100 * discount_percent` 先除后乘:199 // 100 是 1,折扣只有 50 分,结果是 149。"
            "应先乘后除,并加 50 实现四舍五入:(199 * 50 + 50) // 100 = 100;1200 打九折是 1080,也对。"
        ),
        "edit": (
            "找到了。`full // 100 * discount_percent` **先除后乘**,不足一元的部分全丢了:199 分只按 100 分打折。\n\n"
            "修改为先乘后除,并按文档字符串所说四舍五入:"
        ),
        "check": "现在用同一条命令验证。",
        "think_done": "运行结果说明是否修好,据此收尾计划。",
        "done": "全部通过,收尾计划。",
        "final": (
            "已修好,并在这里验证过。\n\n"
            "- **原因**:`basket/price.py:20` 的 `total` 先除以 100 再乘折扣,零头丢失。\n"
            "- **修改**:一行,先乘后除并四舍五入:\n\n"
            "```python\nreturn (full * (100 - discount_percent) + 50) // 100\n```\n\n"
            "- **验证**:`python3 -m unittest -q` 通过,共 4 个测试。\n\n"
            "| 金额 | 折扣 | 之前 | 现在 |\n|--:|--:|--:|--:|\n| 199 | 50 % | 149 | 100 |\n"
            "| 1200 | 10 % | 1080 | 1080 |\n\n"
            "未决:超过 100 % 的折扣没有被拒绝,如需要请告诉我。"
        ),
        "unchecked": (
            "`basket/price.py` 已修改,但**我没有看到测试通过**:最后一次运行没有获准或没有成功。"
            "请自己运行 `python3 -m unittest -q`,或让我再试。`/undo` 可撤回这一轮。"
        ),
        "refused": (
            "我什么都没改:这次编辑没有获准。我本来要在 `basket/price.py` 里这样改:\n\n"
            "```diff\n-    return full - full // 100 * discount_percent\n"
            "+    return (full * (100 - discount_percent) + 50) // 100\n```\n\n"
            "它先除后乘,所以零头丢失。允许编辑(Shift+Tab 切换模式)后再问我一次即可。"
        ),
        "think_generic": "这是演示,简短说明可以试什么最有用。",
        "generic_0": (
            "我是演示用的脚本模型,只会讲一个故事;但围绕我的程序是真的。可以试试:\n\n"
            "- `/context` 看窗口里装了什么,`/cost` 和 `/cache` 看花费\n"
            "- `/checkpoint 下一个想法之前`,然后 `/rewind`\n"
            "- 多输入几次 **fill**:这里的窗口很小,80、90、95 % 的提醒会出现\n"
            "- `/compact` 把较早的对话折成摘要,`/compact undo` 恢复\n"
            "- `!git status` 等 `!命令` 在你自己的 shell 里运行\n"
        ),
        "generic_1": (
            "记下了。真实会话里我现在会去看项目;在演示里我只能说 `basket/price.py` 是最有意思的文件。\n\n"
            "```python\nfrom basket.price import Line, total\n\ntotal([Line('pen', 199)], 50)  # 100\n```\n\n"
            "可以试试 `/effort max`、`/model`、`/export`,或用 `/quit` 离开,再用 `/resume` 回来。"
        ),
        "fill_intro": "一个很长的回答,用来填满窗口。每一行都不同,像真实的日志:\n\n",
        "fill_line": "{n:04d}  购物篮 {a} 有 {b} 行,打 {d} % 折扣前共 {c} 分\n",
        "fill_end": "\n这占了窗口的一大块。用 `/context` 看还剩多少。",
        "goal": "在示例项目 `basket` 上试用 DeepTide。用户的话:{words}",
        "constraints": "金额是整数分(AGENTS.md)。测试用 `python3 -m unittest -q` 运行。",
        "done_fix": "`basket/price.py` 的折扣改为先乘后除;已看到测试通过。",
        "done_none": "无",
        "decisions": (
            "用 `(full * (100 - discount_percent) + 50) // 100` 在整数分上四舍五入,因为不允许浮点;"
            "没有用 `round()`,因为它是银行家舍入。"
        ),
        "dead_ends": "无",
        "next": "问用户接下来想看什么。",
        "briefing": (
            "工作在示例项目 `basket` 上。`basket/price.py` 的折扣先除后乘,零头丢失;因为 AGENTS.md 不允许浮点,"
            "我们选择整数运算并四舍五入。没有用 `round()`,因为它是银行家舍入,与文档字符串不符。\n\n"
            "用户的要求:{words}。目前没有正在验证的假设。还要问用户:超过 100 % 的折扣是否要拒绝。"
        ),
        "think_check": "改好了。同一条命令现在必须通过,别的都不算证明。",
        "think_final": "用户需要原因、修改和验证,几行即可,再说未决的事。",
        "think_refused": "我不能说得比实际发生的多。",
        "think_fill": "用户想看窗口被填满。我写很多行。",
        "think_summary": "我只写做过和看到的。",
        "words_unseen": "见记录",
    },
}  # fmt: skip
