"""Nothing typed is lost or said twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deeptide.agent.inbox import Inbox


@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "steer", "next", "unqueue", "take", "later"]), st.text(max_size=5))
    )
)
def test_every_text_comes_out_exactly_once(moves: list[tuple[str, str]]) -> None:
    inbox, put, out = Inbox(), [], []
    for number, (move, text) in enumerate(moves):
        word = f"{number}{text}"
        match move:
            case "put":
                inbox.put(word)
                put.append(word)
            case "steer":
                inbox.steer(word)
                put.append(word)
            case "next":
                out.append(inbox.next())
            case "unqueue":
                out.append(inbox.unqueue())
            case "take":
                out.extend(inbox.take_steers())
            case _:
                inbox.keep_steers_for_later()
    taken = [word for word in out if word is not None]
    assert sorted([*taken, *inbox.queue, *inbox.steers]) == sorted(put)


def test_steers_that_were_not_read_come_before_the_queue_in_their_order() -> None:
    inbox = Inbox()
    inbox.put("later")
    inbox.steer("one")
    inbox.steer("two")
    inbox.keep_steers_for_later()
    assert inbox.queue == ("one", "two", "later")
