"""What followed where the last two tokens stood before."""

from hypothesis import given
from hypothesis import strategies as st

from intarsia.engine.decoding.proposer import PromptLookup

_ids = st.lists(st.integers(0, 3) | st.sampled_from([256, 65_536, 16_777_216]), max_size=30)


def continued(ids: list[int], num_tokens: int, first: int | None) -> list[int]:
    return PromptLookup(ids).continue_from([], num_tokens, first)


def test_the_latest_earlier_place_counts() -> None:
    ids = [1, 2, 7, 8, 1, 2, 5, 6, 1, 2]
    assert continued(ids, 3, None) == [5, 6, 1]


def test_the_models_own_first_token_vetoes() -> None:
    ids = [1, 2, 7, 8, 1, 2, 5, 6, 1, 2]
    assert continued(ids, 2, 7) == [7, 8], "an older place agrees with it"
    assert continued(ids, 2, 9) == []


def test_a_run_continues_itself() -> None:
    assert continued([4, 4, 4], 5, None) == [4]


def test_too_short_a_text_has_no_earlier_place() -> None:
    for ids in ([], [1], [1, 1], [1, 2, 3]):
        assert continued(ids, 4, None) == []


def test_an_answer_from_before_goes_before_the_context() -> None:
    earlier = PromptLookup([1, 2, 7, 8, 1], [[1, 2, 3, 4], [1, 2, 5], [2, 9]])
    assert earlier.continue_from([2], 3, None) == [5], "the newest that fits"
    assert earlier.continue_from([2], 3, 3) == [3, 4]
    assert earlier.continue_from([2], 3, 7) == [7, 8, 1]


def test_no_answer_continues_another() -> None:
    assert PromptLookup([1, 2], [[1, 2], [3, 4]]).continue_from([], 3, None) == []


@given(_ids, st.integers(1, 6), st.none() | st.integers(0, 3), st.integers(0, 30))
def test_what_is_found_did_follow_the_key(
    ids: list[int], num: int, first: int | None, at: int
) -> None:
    found = PromptLookup(ids[:at]).continue_from(ids[at:], num, first)
    key, places = ids[-2:], range(len(ids) - 2)
    followed = [ids[i + 2 : i + 2 + num] for i in places if ids[i : i + 2] == key]
    followed = [run for run in followed if first is None or run[0] == first]
    assert found == (followed[-1] if followed else [])
