from __future__ import annotations

import asyncio

from rich.cells import cell_len
from textual import events
from textual.geometry import Offset
from textual.selection import Selection

from deeptide.transcript.blocks import AnswerBlock, Change, NoteBlock, ToolBlock, UserBlock
from deeptide.transcript.prose import Growth
from deeptide.tui.palette import LIGHT, MONO
from deeptide.tui.scrollback.inks import Inks
from deeptide.tui.scrollback.markdown import parser
from deeptide.tui.scrollback.scrollback import Scrollback
from tests.tui.scrollback.pages import adds, page, talk


def find_cell(scrollback: Scrollback, words: str) -> tuple[int, int]:
    """(x, y) of the first cell of `words` in the window, counting wide characters as two."""
    for y, line in enumerate(scrollback.visible_text().split("\n")):
        at = line.find(words)
        if at >= 0:
            return cell_len(line[:at]), y
    raise AssertionError(f"{words!r} is not in the window:\n{scrollback.visible_text()}")


async def drag(
    pilot: object, scrollback: Scrollback, start: tuple[int, int], end: tuple[int, int]
) -> str | None:
    await pilot.mouse_down(Scrollback, offset=start)  # type: ignore[attr-defined]
    await pilot.hover(Scrollback, offset=end)  # type: ignore[attr-defined]
    await pilot.mouse_up(Scrollback, offset=end)  # type: ignore[attr-defined]
    await pilot.pause()  # type: ignore[attr-defined]
    return scrollback.screen.get_selected_text()


async def test_twenty_thousand_blocks_mount_without_being_drawn() -> None:
    async with page(talk(20_000), size=(80, 30)) as (_, scrollback):
        assert scrollback.column.laid < 60
        assert scrollback.at_end
        assert "Note 19999" in scrollback.visible_text()


async def test_the_pill_counts_what_is_new_and_leads_back_down() -> None:
    async with page(talk(60)) as (pilot, scrollback):
        await pilot.press("pageup")
        before = scrollback.visible_text()
        scrollback.apply(adds(talk(3, 60)))
        scrollback.flush()
        await pilot.pause()
        assert scrollback.visible_text() == before
        assert scrollback.unseen == 3
        await pilot.click(Scrollback, offset=(scrollback.column.width - 6, 19))
        assert scrollback.at_end
        assert scrollback.unseen == 0
        assert "Note" in scrollback.visible_text() or "Part" in scrollback.visible_text()


async def test_keys_and_the_wheel_move_by_lines_and_pages() -> None:
    async with page(talk(100)) as (pilot, scrollback):
        bottom = scrollback.visible_text()
        await pilot.press("up", "up", "up")
        up_three = scrollback.visible_text().split("\n")
        assert up_three[3:] == bottom.split("\n")[:-3]
        await pilot.press("down", "down", "down")
        assert scrollback.visible_text() == bottom
        scrollback.scroll_lines(-3)
        assert scrollback.visible_text().split("\n") == up_three
        await pilot.press("home")
        assert "Question 0" in scrollback.visible_text()
        await pilot.press("pagedown")
        assert "Question 0" not in scrollback.visible_text()
        await pilot.press("end")
        assert scrollback.visible_text() == bottom
        assert scrollback.at_end


async def test_the_scroll_bar_agrees_with_what_is_shown() -> None:
    async with page(talk(400)) as (pilot, scrollback):
        assert scrollback.scroll_offset.y == scrollback.max_scroll_y
        await pilot.press("home")
        assert scrollback.scroll_offset.y == 0
        scrollback.scroll_to(y=scrollback.max_scroll_y // 2, animate=False)
        await pilot.pause()
        assert not scrollback.at_end
        shown = scrollback.visible_text()
        assert "1" in shown
        scrollback.scroll_to(y=scrollback.max_scroll_y, animate=False)
        await pilot.pause()
        assert "Note 399" in scrollback.visible_text()


async def test_a_burst_of_changes_is_drawn_once_and_its_last_words_are_shown() -> None:
    growth = Growth()
    async with page([UserBlock("u", "go")]) as (pilot, scrollback):
        drawn = 0
        show = scrollback._show

        def counted(rows: object) -> None:
            nonlocal drawn
            drawn += 1
            show(rows)  # type: ignore[arg-type]

        scrollback._show = counted  # type: ignore[method-assign,assignment]
        scrollback.apply(adds([AnswerBlock("a", growth.view(), open=True)]))
        for number in range(500):
            growth.append(f"w{number} ")
            scrollback.apply([Change("update", AnswerBlock("a", growth.view(), open=True))])
        growth.append("the last words")
        scrollback.apply([Change("update", AnswerBlock("a", growth.view()))])
        for _ in range(100):
            await asyncio.sleep(0.01)
            if scrollback._timer is None:
                break
        await pilot.pause()
        assert "the last words" in scrollback.visible_text()
        assert drawn <= 4
        assert scrollback._timer is None, "the clock must stop when nothing arrives"


async def test_a_drag_copies_the_text_and_not_the_page() -> None:
    blocks = [
        UserBlock("u", "请看 this"),
        AnswerBlock("a", "Some **bold** words that are long enough to wrap here.\n\n- 中文项目"),
    ]
    async with page(blocks, size=(30, 12)) as (pilot, scrollback):
        start = find_cell(scrollback, "看")
        x, y = find_cell(scrollback, "中文")
        said = await drag(pilot, scrollback, start, (x + 3, y))
        assert said == "看 this\n\nSome bold words that are long enough to wrap here.\n\n- 中文"
        said = await drag(pilot, scrollback, (x + 3, y), start)
        assert said == "看 this\n\nSome bold words that are long enough to wrap here.\n\n- 中文"


async def test_either_half_of_a_wide_character_selects_it() -> None:
    async with page([AnswerBlock("a", "一二三四五")]) as (pilot, scrollback):
        x, y = find_cell(scrollback, "二")
        for first in (x, x + 1):
            for last in (x + 4, x + 5):
                assert await drag(pilot, scrollback, (first, y), (last, y)) == "二三四"


async def test_a_selection_stays_on_its_words_while_an_answer_grows() -> None:
    growth = Growth()
    growth.append("begin\n\n")
    blocks = [UserBlock("u", "alpha beta gamma"), AnswerBlock("a", growth.view(), open=True)]
    async with page(blocks) as (pilot, scrollback):
        x, y = find_cell(scrollback, "beta")
        assert await drag(pilot, scrollback, (x, y), (x + 3, y)) == "beta"
        for number in range(100):
            growth.append(f"Paragraph {number}\n\n")
            scrollback.apply([Change("update", AnswerBlock("a", growth.view(), open=True))])
            scrollback.flush()
        await pilot.pause()
        assert "alpha" not in scrollback.visible_text()
        assert scrollback.screen.get_selected_text() == "beta"


async def test_the_selection_is_drawn_under_the_words_alone() -> None:
    async with page([AnswerBlock("a", "- one two")]) as (pilot, scrollback):
        scrollback.screen.selections = {scrollback: Selection(None, None)}
        await pilot.pause()
        select = Inks.of(scrollback.app.palette).select  # type: ignore[attr-defined]
        (strip,) = scrollback.render_lines(scrollback.size.region)[:1]
        marked = "".join(s.text for s in strip if s.style and s.style.bgcolor == select.bgcolor)
        assert marked == "• one two"
        assert scrollback.screen.get_selected_text() == "- one two"


async def test_a_double_click_takes_a_word_and_a_triple_click_the_line() -> None:
    async with page([AnswerBlock("a", "see `src/app.py` and more, it is said")], size=(20, 8)) as (
        pilot,
        scrollback,
    ):
        x, y = find_cell(scrollback, "src")
        await pilot.double_click(Scrollback, offset=(x, y))
        assert scrollback.screen.get_selected_text() == "src/app.py"
        await pilot.triple_click(Scrollback, offset=(x, y))
        assert scrollback.screen.get_selected_text() == "see src/app.py and more, it is said"


async def test_a_click_on_a_link_says_its_address_and_a_click_on_a_card_unfolds_it() -> None:
    card = ToolBlock("c", "c", "read", "read a.py", output="secret words", status="ok")
    async with page([AnswerBlock("a", "[docs](https://example.com/x)"), card]) as (pilot, scrollback):
        await pilot.click(Scrollback, offset=find_cell(scrollback, "docs"))
        await pilot.pause()
        assert scrollback.app.links == ["https://example.com/x"]  # type: ignore[attr-defined]
        assert "secret" not in scrollback.visible_text()
        await pilot.click(Scrollback, offset=find_cell(scrollback, "read a.py"))
        assert "secret words" in scrollback.visible_text()
        await pilot.press("enter")
        assert "secret" not in scrollback.visible_text()
        await pilot.press("ctrl+o")
        assert "secret words" in scrollback.visible_text()


async def test_toggle_knows_what_can_be_folded() -> None:
    card = ToolBlock("c", "c", "read", "read a.py", output="words", status="ok")
    async with page([card, NoteBlock("n", "info", "hello")]) as (_, scrollback):
        assert scrollback.toggle("c")
        assert not scrollback.toggle("n")
        assert not scrollback.toggle("nobody")
        assert scrollback.toggle_all()
        assert not scrollback.toggle_all()


async def test_a_search_finds_everything_and_jumps_into_a_folded_card() -> None:
    output = "\n".join(f"row {number}" for number in range(300))
    card = ToolBlock("card", "c", "shell", "$ seq", output=output, status="ok")
    blocks = [*talk(50), card, *talk(50, 50)]
    async with page(blocks) as (pilot, scrollback):
        hits = scrollback.search("ROW 77")
        assert [(hit.block_id, hit.nth) for hit in hits] == [("card", 0)]
        assert scrollback.jump("card", 0)
        await pilot.pause()
        assert "row 77" in scrollback.visible_text()
        y = find_cell(scrollback, "row 77")[1]
        strip = scrollback.render_lines(scrollback.size.region)[y]
        find = Inks.of(scrollback.app.palette).find  # type: ignore[attr-defined]
        assert "".join(s.text for s in strip if s.style and s.style.bgcolor == find.bgcolor) == "row 77"
        assert len(scrollback.search("question")) == 25
        assert scrollback.search("") == []
        assert not scrollback.jump("nobody")


async def test_a_resize_keeps_the_reader_where_they_were() -> None:
    async with page(talk(200), size=(80, 20)) as (pilot, scrollback):
        for _ in range(6):
            await pilot.press("pageup")
        place = scrollback.column.locate(scrollback.column.settle())
        for size in ((50, 20), (120, 35), (80, 20)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            now = scrollback.column.locate(scrollback.column.settle())
            assert now.entry is place.entry
        assert not scrollback.at_end


async def test_blocks_that_move_end_a_selection_that_would_lie() -> None:
    blocks = talk(12)
    async with page(blocks) as (pilot, scrollback):
        scrollback.screen.selections = {scrollback: Selection(Offset(0, 0), None)}
        scrollback.apply([Change("remove", blocks[3])])
        await pilot.pause()
        assert scrollback.text_selection is None


async def test_another_palette_redraws_and_keeps_the_place() -> None:
    async with page(talk(100)) as (pilot, scrollback):
        await pilot.press("pageup")
        before = scrollback.visible_text()
        for palette in (LIGHT, MONO):
            scrollback.set_palette(palette)
            await pilot.pause()
            assert scrollback.visible_text() == before
            colour = scrollback.render_lines(scrollback.size.region)[0]._segments[0].style
            assert colour is not None
            assert colour.bgcolor is not None
            assert colour.bgcolor.name == palette.ground


async def test_clearing_makes_room_for_another_session() -> None:
    async with page(talk(100)) as (pilot, scrollback):
        await pilot.press("pageup")
        scrollback.clear()
        scrollback.apply(adds([NoteBlock("n", "info", "a new session")]))
        scrollback.flush()
        await pilot.pause()
        assert scrollback.visible_text().split("\n")[0].strip() == "a new session"
        assert scrollback.at_end


async def test_nothing_is_drawn_while_nothing_happens() -> None:
    async with page(talk(100)) as (pilot, scrollback):
        await pilot.pause()
        laid = scrollback.column.laid
        assert scrollback._timer is None
        await asyncio.sleep(0.2)
        assert scrollback.column.laid == laid
        assert scrollback._timer is None


async def test_the_end_is_still_followed_after_any_resize() -> None:
    async with page(talk(60), size=(80, 20)) as (pilot, scrollback):
        for size in ((80, 33), (50, 33), (120, 10), (120, 40), (80, 20)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert scrollback.at_end
            assert scrollback.column.height == size[1]
            assert scrollback.visible_text().rstrip().endswith("Note 59")


async def test_a_drag_held_at_the_edge_takes_in_the_words_that_come_by() -> None:
    blocks = [NoteBlock(f"n{number}", "info", f"note {number}") for number in range(100)]
    async with page(blocks) as (pilot, scrollback):
        await pilot.mouse_down(Scrollback, offset=(6, 10))
        await pilot.hover(Scrollback, offset=(2, 8))
        scrollback.scroll_y -= 20
        await pilot.pause()
        await pilot.mouse_up(Scrollback, offset=(2, 8))
        said = (scrollback.screen.get_selected_text() or "").split("\n")
        assert said[0] == "note 68"
        assert said[-1].startswith("note")
        assert len(said) == 23


async def test_a_wheel_turned_up_leaves_the_end_and_turned_down_comes_back() -> None:
    async with page(talk(60)) as (pilot, scrollback):
        await pilot._post_mouse_events([events.MouseScrollUp], Scrollback, offset=(5, 5), button=0)
        await pilot.pause()
        assert not scrollback.at_end
        for _ in range(4):
            await pilot._post_mouse_events([events.MouseScrollDown], Scrollback, offset=(5, 5), button=0)
        await pilot.pause()
        assert scrollback.at_end


async def test_markdown_is_drawn_as_written_until_the_parser_is_there() -> None:
    parser.cache_clear()
    async with page([AnswerBlock("a", "**bold**")]) as (_, scrollback):
        for _ in range(200):
            if scrollback.visible_text().strip() == "bold":
                break
            await asyncio.sleep(0.02)
        assert scrollback.visible_text().strip() == "bold"
