"""What the demo's model says, in English and Chinese.

Invariant: both languages have every text; code, paths and commands are the same in both.
"""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "zh"]

HINT = """\
A scripted demo: no model, no key, no network; the program is real.
Try: fix the failing test · fill the window · /context · 中文也可以"""

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "think_start": (
            "This is about the failing test. I do not know this project yet, so I look first: the list "
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
        "read_blind": (
            "I did not see the tests run; what came back was:\n\n> {result}\n\n"
            "So I go by the code alone. The rule for discounts lives in `basket/price.py`."
        ),
        "already": (
            "All tests pass already, so there is **nothing to fix** and I changed nothing. Probably the fix of an "
            "earlier turn is still in `basket/price.py`: `/undo` and `/rewind` take back the conversation, files "
            "stay.\n\nTo see the story again, leave with `/quit` and start `deeptide demo` afresh: that puts the "
            "sample project back. Or go on with `fill the window`."
        ),
        "fixed_code": (
            "`basket/price.py` already multiplies before it divides, so I changed nothing. The story I know by "
            "heart ends here; `/quit` and a fresh `deeptide demo` put the sample project back."
        ),
        "unread": (
            "I changed nothing: I did not find the line that I know in `basket/price.py`. What came back "
            "begins with:\n\n> {result}\n\nThis is a scripted demo, so I cannot think of another fix. `/quit` and "
            "a fresh `deeptide demo` put the sample project back."
        ),
        "edit_failed": (
            "I changed nothing: the edit failed.\n\n> {result}\n\n"
            "This is a scripted demo and knows no other edit. `/quit` and a fresh `deeptide demo` put the sample "
            "project back."
        ),
        "unchecked": (
            "The line in `basket/price.py` is changed, but **I did not see the tests pass**; what came back "
            "was:\n\n> {result}\n\nRun `!python3 -m unittest -q` yourself, or ask me again. (`/undo` would take back "
            "this turn of the conversation; the file stays changed.)"
        ),
        "still_failing": (
            "The line in `basket/price.py` is changed, but **the tests still fail**. I stop here rather than "
            "claim otherwise: this is a scripted demo and knows one fix only. The output of the last call, "
            "above, says which test it is; `/quit` and a fresh `deeptide demo` put the sample project back."
        ),
        "refused": (
            "**I changed nothing**: the edit did not run.\n\n> {result}\n\nWhat I would do, in `basket/price.py`:\n\n"
            "```diff\n-    return full - full // 100 * discount_percent\n"
            "+    return (full * (100 - discount_percent) + 50) // 100\n```\n\n"
            "It divides before it multiplies, so the cents are lost. To let me do it, ask again "
            "(`fix the failing test`) and allow the edit; Shift+Tab changes the mode."
        ),
        "think_guide": "No story of mine fits these words, so I say what I am and what can be tried.",
        "guide": (
            "Hello! This is a **scripted demo**: no model reads your words, and I know one story by heart. The "
            "program around me is real. The sample project here, `basket`, adds up prices; one of its tests "
            "fails.\n\nTry:\n\n"
            "- `fix the failing test`: the story, with real commands and edits that ask you first\n"
            "- `fill the window` a few times: the window is small here, so the warnings at 80, 90 and 95 % speak\n"
            "- `/context` shows what fills the window, `/cost` and `/cache` what it would cost\n"
            "- `/compact` folds the older talk into a summary; `/compact undo` brings it back\n"
            "- `/checkpoint before the next idea`, then `/rewind`: the conversation goes back, files stay\n"
            "- `!ls` or any `!command` runs in your own shell\n"
            "- 中文也可以:`修好失败的测试`\n"
        ),
        "guide_again": (
            "That is not in my script; this is a demo without a model. I react to `fix the failing test` and "
            "`fill the window` (中文也可以). All commands work: `/context`, `/compact`, `/checkpoint`, `/rewind`, "
            "`/cost`, `/effort max`, `/model`, `/export`; `/help` lists the rest.\n\n"
            "For real answers leave with `/quit`, run `deeptide login`, then `deeptide` in a project of yours."
        ),
        "fill_intro": "A long answer, to fill the window. Every line is different, like a real log:\n\n",
        "fill_line": "{n:04d}  basket {a} holds {b} lines and costs {c} cents before the discount of {d} %\n",
        "fill_end": "\nThat was a good part of this window. `/context` shows how much is left.",
        "goal": "See DeepTide at work on the sample project `basket`. The user's words: {words}",
        "constraints": "Money is a whole number of cents (AGENTS.md). Tests run with `python3 -m unittest -q`.",
        "done_fix": "The discount in `basket/price.py` multiplies before it divides; seen to pass by the tests.",
        "done_edit": "The discount in `basket/price.py` multiplies before it divides; the tests were not seen to pass.",
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
            "even, which the docstring does not promise. {work}\n\n"
            "The user asked: {words}. Nothing is being tested at the moment. Still to ask: whether a discount "
            "over 100 % must be refused."
        ),
        "briefing_none": (
            "The place is the sample project `basket`. What was shown to me holds no change of its files and no "
            "decision.\n\nThe user asked: {words}. Nothing is being tested at the moment. Still to ask: what to "
            "look at next."
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
            "这是关于失败的测试。我还不了解这个项目,所以先看文件列表和测试,再亲自运行一次看到失败,"
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
        "read_blind": (
            "我没有看到测试运行,返回的是:\n\n> {result}\n\n所以只能看代码。打折的规则在 `basket/price.py` 里。"
        ),
        "already": (
            "测试已经全部通过,**没有要修的**,我什么都没改。多半是之前那一轮的修改还在 `basket/price.py` 里:"
            "`/undo` 和 `/rewind` 只撤回对话,文件不变。\n\n"
            "想再看一遍,用 `/quit` 离开,重新运行 `deeptide demo`,示例项目会恢复原样。也可以输入 `填满窗口`。"
        ),
        "fixed_code": (
            "`basket/price.py` 已经是先乘后除,我什么都没改。我背下来的故事到此为止;"
            "`/quit` 后重新运行 `deeptide demo`,示例项目会恢复原样。"
        ),
        "unread": (
            "我什么都没改:在 `basket/price.py` 里没找到我认识的那一行。返回的开头是:\n\n> {result}\n\n"
            "这是脚本演示,我想不出别的改法。`/quit` 后重新运行 `deeptide demo`,示例项目会恢复原样。"
        ),
        "edit_failed": (
            "我什么都没改:编辑失败了。\n\n> {result}\n\n"
            "这是脚本演示,不会别的改法。`/quit` 后重新运行 `deeptide demo`,示例项目会恢复原样。"
        ),
        "unchecked": (
            "`basket/price.py` 已修改,但**我没有看到测试通过**,返回的是:\n\n> {result}\n\n"
            "请自己运行 `!python3 -m unittest -q`,或再问我一次。(`/undo` 只撤回这一轮对话,文件保持已改。)"
        ),
        "still_failing": (
            "`basket/price.py` 已修改,但**测试仍然失败**。我就停在这里,不多说:这是脚本演示,只会这一种改法。"
            "上面最后一次调用的输出写明了是哪个测试;`/quit` 后重新运行 `deeptide demo`,示例项目会恢复原样。"
        ),
        "refused": (
            "**我什么都没改**:这次编辑没有执行。\n\n> {result}\n\n我本来要在 `basket/price.py` 里这样改:\n\n"
            "```diff\n-    return full - full // 100 * discount_percent\n"
            "+    return (full * (100 - discount_percent) + 50) // 100\n```\n\n"
            "它先除后乘,所以零头丢失。要让我改,再问一次(`修好失败的测试`)并允许编辑即可;Shift+Tab 切换模式。"
        ),
        "think_guide": "这句话不在我的故事里,就说明我是什么、可以试什么。",
        "guide": (
            "你好!这是**脚本演示**:没有模型在读你的话,我只会背一个故事;但围绕我的程序是真的。"
            "这里的示例项目 `basket` 计算价格,有一个测试失败。\n\n可以试试:\n\n"
            "- `修好失败的测试`:整个故事,命令和编辑都是真的,会先问你\n"
            "- 多输入几次 `填满窗口`:这里的窗口很小,80、90、95 % 的提醒会出现\n"
            "- `/context` 看窗口里装了什么,`/cost` 和 `/cache` 看花费\n"
            "- `/compact` 把较早的对话折成摘要,`/compact undo` 恢复\n"
            "- `/checkpoint 下一个想法之前`,然后 `/rewind`:只回退对话,文件不变\n"
            "- `!ls` 等 `!命令` 在你自己的 shell 里运行\n"
        ),
        "guide_again": (
            "这不在我的脚本里;这是没有模型的演示。我只认 `修好失败的测试` 和 `填满窗口`。命令都能用:"
            "`/context`、`/compact`、`/checkpoint`、`/rewind`、`/cost`、`/effort max`、`/model`、`/export`,"
            "其余见 `/help`。\n\n想要真正的回答,用 `/quit` 离开,运行 `deeptide login`,再在你的项目里运行 `deeptide`。"
        ),
        "fill_intro": "一个很长的回答,用来填满窗口。每一行都不同,像真实的日志:\n\n",
        "fill_line": "{n:04d}  购物篮 {a} 有 {b} 行,打 {d} % 折扣前共 {c} 分\n",
        "fill_end": "\n这占了窗口的一大块。用 `/context` 看还剩多少。",
        "goal": "在示例项目 `basket` 上试用 DeepTide。用户的话:{words}",
        "constraints": "金额是整数分(AGENTS.md)。测试用 `python3 -m unittest -q` 运行。",
        "done_fix": "`basket/price.py` 的折扣改为先乘后除;已看到测试通过。",
        "done_edit": "`basket/price.py` 的折扣已改为先乘后除;还没有看到测试通过。",
        "done_none": "无",
        "decisions": (
            "用 `(full * (100 - discount_percent) + 50) // 100` 在整数分上四舍五入,因为不允许浮点;"
            "没有用 `round()`,因为它是银行家舍入。"
        ),
        "dead_ends": "无",
        "next": "问用户接下来想看什么。",
        "briefing": (
            "工作在示例项目 `basket` 上。`basket/price.py` 的折扣先除后乘,零头丢失;因为 AGENTS.md 不允许浮点,"
            "我们选择整数运算并四舍五入。没有用 `round()`,因为它是银行家舍入,与文档字符串不符。{work}\n\n"
            "用户的要求:{words}。目前没有正在验证的假设。还要问用户:超过 100 % 的折扣是否要拒绝。"
        ),
        "briefing_none": (
            "地点是示例项目 `basket`。给我看的内容里没有改动,也没有决定。\n\n"
            "用户的要求:{words}。目前没有正在验证的假设。还要问用户:接下来想看什么。"
        ),
        "think_check": "改好了。同一条命令现在必须通过,别的都不算证明。",
        "think_final": "用户需要原因、修改和验证,几行即可,再说未决的事。",
        "think_refused": "我不能说得比实际发生的多。",
        "think_fill": "用户想看窗口被填满。我写很多行。",
        "think_summary": "我只写做过和看到的。",
        "words_unseen": "见记录",
    },
}  # fmt: skip
