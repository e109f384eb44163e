"""Recent edits: regions that grow, move and are forgotten."""

from hypothesis import given
from hypothesis import strategies as st

from intarsia.lsp.project.recent_edits import MAX_REGIONS, EditedLines, RecentEdits, Region

A, B = "file:///a.py", "file:///b.py"


def edits(*all_edits: EditedLines) -> RecentEdits:
    recent = RecentEdits()
    for edit in all_edits:
        recent.note(edit)
    return recent


def edit(uri: str, start_line: int, num_old: int = 1, num_new: int = 1) -> EditedLines:
    return EditedLines(uri=uri, start_line=start_line, num_old=num_old, num_new=num_new)


def region(uri: str, start_line: int, end_line: int) -> Region:
    return Region(uri=uri, start_line=start_line, end_line=end_line)


def test_the_region_edited_last_is_first() -> None:
    recent = edits(edit(A, 5), edit(B, 1), edit(A, 100))
    expected = [region(A, 100, 101), region(B, 1, 2), region(A, 5, 6)]
    assert list(recent.newest_first()) == expected


def test_edits_near_each_other_are_one_region() -> None:
    recent = edits(edit(A, 5), edit(A, 9), edit(B, 9), edit(A, 2))
    assert list(recent.newest_first()) == [region(A, 2, 10), region(B, 9, 10)]


def test_a_region_moves_with_the_lines_above_it() -> None:
    recent = edits(edit(A, 50), edit(A, 3, num_old=1, num_new=11))
    assert list(recent.newest_first()) == [region(A, 3, 14), region(A, 60, 61)]
    recent.note(edit(A, 0, num_old=2, num_new=0))
    assert region(A, 58, 59) in recent.newest_first()


def test_a_closed_document_has_no_regions() -> None:
    recent = edits(edit(A, 5), edit(B, 1))
    recent.forget(A)
    assert list(recent.newest_first()) == [region(B, 1, 2)]


@given(
    st.lists(
        st.tuples(st.sampled_from([A, B]), *[st.integers(0, 300)] * 3).map(
            lambda values: edit(values[0], *values[1:])
        ),
        min_size=1,
        max_size=60,
    )
)
def test_regions_stay_few_apart_and_contain_the_last_edit(all_edits: list[EditedLines]) -> None:
    regions = list(edits(*all_edits).newest_first())
    assert len(regions) <= MAX_REGIONS
    assert all(0 <= each.start_line <= each.end_line for each in regions)
    last = all_edits[-1]
    assert regions[0].uri == last.uri
    assert regions[0].start_line <= last.start_line
    assert regions[0].end_line >= last.start_line + last.num_new
