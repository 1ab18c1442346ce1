"""Shared by the tests of the scrollback: an app with nothing else in it, and ways to look at it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from deeptide.transcript.blocks import AnswerBlock, Block, Change, NoteBlock, UserBlock
from deeptide.tui.palette import DARK, Palette
from deeptide.tui.scrollback.column import Column
from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.markdown import parser
from deeptide.tui.scrollback.parts import source_parts
from deeptide.tui.scrollback.scrollback import Scrollback
from deeptide.tui.scrollback.split import split

INKS = Inks.of(DARK)
parser()

MARKDOWN = """# A title

Some **bold**, *slanted* and `code` words with a [link](https://example.com/a), wrapped over
two lines.

Steps:
- one
- two with 中文 and emoji 👩‍👩‍👧 ✌️
  - nested

    a paragraph inside
- three

7. seven
8. eight

> quoted
> words

| name | 数量 | note |
|:-----|----:|------|
| 苹果 | 12 | red |
| pear | 3 | a rather long remark that has to be wrapped when it is narrow |

```python
def f(x):
    \"\"\"doc
    string\"\"\"
    return x + 1  # 注释
```
- [ ] to do
- [x] done

---
The end: https://example.com/b.
"""


class Page(App[None]):
    """One scrollback, the whole screen."""

    def __init__(self, palette: Palette = DARK) -> None:
        super().__init__()
        self.palette = palette
        self.links: list[str] = []

    def compose(self) -> ComposeResult:
        yield Scrollback(self.palette)

    def on_scrollback_link_clicked(self, event: Scrollback.LinkClicked) -> None:
        self.links.append(event.address)


@asynccontextmanager
async def page(
    blocks: Iterable[Block] = (), size: tuple[int, int] = (60, 20)
) -> AsyncIterator[tuple[Pilot[None], Scrollback]]:
    app = Page()
    async with app.run_test(size=size) as pilot:
        scrollback = app.query_one(Scrollback)
        scrollback.focus()
        scrollback.apply(adds(blocks))
        scrollback.flush()
        await pilot.pause()
        yield pilot, scrollback
        assert app.is_running, "the app died on the way"


def adds(blocks: Iterable[Block]) -> list[Change]:
    return [Change("add", block) for block in blocks]


def talk(count: int, start: int = 0) -> list[Block]:
    """Many blocks of different heights."""
    blocks: list[Block] = []
    for number in range(start, start + count):
        kind = number % 4
        if kind == 0:
            blocks.append(UserBlock(f"b{number}", f"Question {number}"))
        elif kind == 1:
            words = f"Answer {number} " + "with some words " * (number % 23)
            blocks.append(AnswerBlock(f"b{number}", f"{words}\n\n- a\n- b\n\n```py\nx = {number}\n```"))
        elif kind == 2:
            blocks.append(AnswerBlock(f"b{number}", f"## Part {number}\n\n" + "中文字 " * (number % 31)))
        else:
            blocks.append(NoteBlock(f"b{number}", "warning", f"Note {number}"))
    return blocks


def drawn(text: str, width: int = 60) -> list[str]:
    """The lines of a whole answer, gaps included, as they are drawn."""
    lines: list[str] = []
    for part in source_parts(split(text)):
        lines.extend([""] * part.gap)
        lines.extend(line.plain.rstrip() for line in part.draw(width, INKS).lines)
    return lines


def column(blocks: Iterable[Block], width: int = 60, height: int = 20) -> Column:
    made = Column(INKS)
    made.resize(width, height)
    made.apply(adds(blocks))
    made.settle()
    return made


def window(made: Column) -> list[str]:
    """What the window shows, line by line."""
    top = made.settle()
    rows = [made.line_at(top + y) for y in range(made.height)]
    return [row[2].plain.rstrip() if row else "" for row in rows]


def whole(made: Column) -> list[str]:
    """Every line of a column, laid out."""
    lines: list[str] = []
    for entry in made.entries():
        for index in range(len(made.open(entry).sections)):
            sheet = made.lay(entry, index)
            lines.extend([""] * made.open(entry).sections[index].gap)
            lines.extend(line.plain.rstrip() for line in sheet.lines)
    return lines
