"""Whatever a client sends, only what a context can hold is encoded."""

import pytest

from intarsia.engine.families.validate_request import (
    MAX_CHARS_PER_TOKEN,
    MAX_GIVEN_CHARS,
    bounded,
    require_bounded_window,
)
from intarsia.engine.ipc.messages import EditExample, Fill, FindNextEdits, TextPart

TOKENS = 100
MOST = TOKENS * MAX_CHARS_PER_TOKEN


def cut(**fields: object) -> Fill:
    request = Fill(id=1, **({"prefix": "", "suffix": ""} | fields))  # type: ignore[arg-type]
    return bounded(request, max_context_tokens=TOKENS)


def test_an_ordinary_request_stays_as_it_is() -> None:
    request = Fill(id=1, prefix="a" * MOST, suffix="b" * MOST, given="c" * MAX_GIVEN_CHARS)
    assert bounded(request, max_context_tokens=TOKENS) is request


def test_the_text_nearest_the_hole_is_kept() -> None:
    text = "".join(chr(33 + i % 90) for i in range(5 * MOST))
    found = cut(prefix=text, suffix=text)
    assert text.endswith(found.prefix)
    assert text.startswith(found.suffix)
    assert len(found.suffix) == MOST
    assert 0.8 * MOST < len(found.prefix) <= MOST


def test_a_prefix_that_grows_is_cut_at_the_same_place_for_a_while() -> None:
    text = "".join(chr(33 + i % 90) for i in range(3 * MOST))
    starts = {2 * MOST + n - len(cut(prefix=text[: 2 * MOST + n]).prefix) for n in range(200)}
    assert len(starts) <= 2


def test_long_given_text_becomes_prefix() -> None:
    found = cut(prefix="ab", given="c" * 500 + "d" * MAX_GIVEN_CHARS)
    assert (found.prefix, found.given) == ("ab" + "c" * 500, "d" * MAX_GIVEN_CHARS)
    assert len(cut(given="e" * 100 * MOST).prefix) <= MOST


@pytest.mark.parametrize(
    "fields",
    [
        {"draft": "x" * 4_097, "noise": 0.5, "max_tokens": 64},
        {"stop": ("x",) * 257},
        {"stop": ("x" * 4_001,)},
    ],
)
def test_what_is_too_long_to_be_meant_is_refused_by_name(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=rf"^{next(iter(fields))} has"):
        cut(**fields)


def test_a_window_longer_than_a_context_is_refused() -> None:
    def window(num_chars: int) -> FindNextEdits:
        part = TextPart(before="x", after="x" * num_chars, may_change=True)
        return FindNextEdits(id=1, parts=(part,), example=EditExample(before="a", after="b"))

    require_bounded_window(window(MOST - 2), max_tokens=TOKENS)
    with pytest.raises(ValueError, match="send less"):
        require_bounded_window(window(MOST), max_tokens=TOKENS)
