"""Open offers move with the text, end where their lines change, and are known when accepted."""

from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.infill.next_edit.offer import NextEditOffer
from intarsia.infill.next_edit.plan import line_offsets
from intarsia.infill.next_edit.settled_edit import LineRange
from intarsia.lsp.next_edits.open_offers import OpenOffers

TEXT = "".join(f"line {i}\n" for i in range(10))


def offer(line: int, new: str, num_lines: int = 1, text: str = TEXT) -> NextEditOffer:
    offsets = line_offsets(text)
    return NextEditOffer(
        lines=LineRange(start=line, end=line + num_lines),
        new_lines=(new,),
        start=offsets[line],
        end=offsets[line + num_lines],
        text=f"{new}\n",
        gain=9.0,
        double_difference=9.0,
        level="sure",
    )


def opened(*offers: NextEditOffer) -> OpenOffers:
    found = OpenOffers()
    found.put(offers)
    return found


def replaced(found: OpenOffers, text: str) -> list[str]:
    return [text[it.start : it.end] for it in found.offers]


def test_an_offer_ends_where_its_lines_change() -> None:
    for after in (
        TEXT.replace("line 2", "line two"),
        TEXT.replace("line 1\n", "line 1"),  # joined to the line above
        TEXT.replace("line 2\n", ""),
        "other\n",
        "",
    ):
        found = opened(offer(2, "a"))
        found.change(TEXT, after)
        assert found.offers == ()


def test_an_insertion_moves_and_ends_too() -> None:
    found = opened(offer(4, "new", num_lines=0))
    after = "first\n" + TEXT
    found.change(TEXT, after)
    (moved,) = found.offers
    assert after[moved.start :].startswith("line 4\n")
    found.change(after, after.replace("line 4\n", "x\nline 4\n"))
    assert found.offers == ()


def test_an_accepted_offer_is_known_by_its_change() -> None:
    found = opened(offer(7, "longer line"), offer(2, "a"))
    after = TEXT.replace("line 2\n", "a\n")
    assert [it.text for it in found.change(TEXT, after)] == ["a\n"]
    assert replaced(found, after) == ["line 7\n"]
    last = after.replace("line 7\n", "longer line\n")
    assert [it.text for it in found.change(after, last)] == ["longer line\n"]
    assert found.offers == ()


def test_several_offers_may_be_accepted_at_once() -> None:
    found = opened(offer(7, "b"), offer(2, "a"), offer(5, "c"))
    after = TEXT.replace("line 2\n", "a\n").replace("line 7\n", "b\n")
    assert [it.text for it in found.change(TEXT, after)] == ["a\n", "b\n"]
    assert replaced(found, after) == ["line 5\n"]


def test_a_dismissed_offer_leaves_its_place() -> None:
    found = opened(offer(7, "b"), offer(2, "a"))
    assert found.dismiss("1")
    assert not found.dismiss("1") and not found.dismiss("9")
    assert [it.id for it in found.offers] == ["2"]
    after = "x\n" + TEXT.replace("line 7\n", "line seven\n")
    found.change(TEXT, after)
    ((start, end),) = found.dismissed
    assert "line seven\n" in after[start:end]


def test_all_offers_end_where_the_edit_that_they_follow_goes_on() -> None:
    for after, num_open in (
        (TEXT.replace("line 5", "line five"), 0),
        (TEXT.replace("line 5", "xline 5"), 0),
        (TEXT.replace("line 5\n", ""), 0),
        (TEXT.replace("line 5\n", "line 5\nmore\n"), 2),
        (TEXT.replace("line 5\n", "more\nline 5\n"), 2),
        (TEXT.replace("line 9\n", "a\n"), 2),
    ):
        found = opened(offer(2, "a"), offer(7, "b"))
        found.follow((TEXT.index("line 5"), TEXT.index("line 6")))
        found.change(TEXT, after)
        assert len(found.offers) == num_open, after


def test_the_edit_moves_with_what_is_accepted_above_it() -> None:
    found = opened(offer(2, "a longer line"), offer(7, "b"))
    found.follow((TEXT.index("line 5"), TEXT.index("line 6")))
    after = TEXT.replace("line 2", "a longer line")
    found.change(TEXT, after)
    assert len(found.offers) == 1
    found.change(after, after.replace("line 5", "line 5x"))
    assert found.offers == ()


def test_ids_are_never_used_again() -> None:
    found = opened(offer(7, "b"))
    found.put([offer(2, "a")])
    found.put([offer(2, "a"), offer(7, "b")])
    assert [it.id for it in found.offers] == ["2", "3"]
    assert found.find("1") is None


texts = st.lists(st.sampled_from(["a", "b\n", "\n", "\r\n", "c d\n", "é\n"]), max_size=12).map(
    "".join
)


@settings(max_examples=400)
@given(texts, texts, st.data())
def test_what_an_offer_replaces_stays_the_same_text(text, new, data):
    offsets = line_offsets(text)
    first = data.draw(st.integers(0, len(offsets) - 1))
    num_lines = data.draw(st.integers(0, min(3, len(offsets) - 1 - first)))
    found = opened(offer(first, "never the same", num_lines, text))
    (before,) = replaced(found, text)
    found.follow((0, 0))
    found.dismissed = [(found.offers[0].start, found.offers[0].end)]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    after = text[:start] + new + text[end:]
    assert found.change(text, after) == ()
    assert replaced(found, after) in ([before], [])
    assert all(it.start in line_offsets(after) for it in found.offers)
    ((dismissed_start, dismissed_end),) = found.dismissed
    assert 0 <= dismissed_start <= dismissed_end <= len(after)


def test_an_offer_that_was_open_keeps_its_id() -> None:
    found = opened(offer(2, "a"))
    assert found.put([offer(2, "a"), offer(7, "b")]) == 1
    assert [it.id for it in found.offers] == ["1", "2"]
    assert found.put([offer(2, "another")]) == 1
    assert [it.id for it in found.offers] == ["3"]


def test_a_place_that_is_dismissed_during_a_search_stays_silent() -> None:
    found = opened(offer(2, "a"))
    assert found.dismiss("1")
    assert found.put([offer(2, "a"), offer(7, "b")]) == 1
    assert [it.text for it in found.offers] == ["b\n"]
