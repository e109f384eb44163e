"""What a filling request carries: the project's code, within bounds."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from intarsia.engine.config import EngineConfig
from intarsia.engine.families.validate_request import bounded, require_common_fields
from intarsia.engine.ipc.messages import ContextChunk, Fill, ProjectContext
from intarsia.infill.filling.fill_places import MAX_DRAFT_CHARS
from intarsia.infill.filling.plan import (
    FillOptions,
    FillPlan,
    plan_at_cursor,
    plan_fill,
    to_project_context,
)
from intarsia.infill.holes.hole import hole_for_range
from intarsia.infill.languages import language_for_id

VOCAB_SIZE = 50_000
MOST_TOKENS = EngineConfig().max_context_tokens
LENGTHS = (1, 64, 999, 1_000, 1_001, 3_999, 4_000, 4_001, 12_000)
UNITS = (
    "x",
    "x = 1; ",
    "long_name",
    " ",
    "\t",
    "(",
    "}",
    "`",
    "\u00e9",
    "漢",
    "😀",
    "\U00020000",
    "'",
)
OPENERS = {
    "python": ("def f():", "    "),
    "c": ("switch (x) {", ""),
    "typescript": ("function f() {", "  "),
    "markdown": ("```python\ndef f():", "    "),
    "plaintext": ("Words", ""),
}

lengths = st.sampled_from(LENGTHS)
lines = st.builds(lambda unit, length: (unit * length)[:length], st.sampled_from(UNITS), lengths)
blocks = st.one_of(
    lines, st.builds(lambda line, num: f"{line[:9]}\n" * num, lines, st.sampled_from((0, 3, 4_000)))
)


def accepted(request: Fill) -> None:
    """Check a request as every family does; nothing of it is cut either."""
    require_common_fields(request, vocab_size=VOCAB_SIZE)
    assert bounded(request, max_context_tokens=MOST_TOKENS) is request
    assert 1 <= request.max_tokens <= MOST_TOKENS
    assert all(request.stop)


@pytest.mark.parametrize("language_id", OPENERS)
@settings(max_examples=25)
@example(before="", indent=0, typed="", after="y = 1; " * 900, rest="")
@example(before="", indent=12_000, typed="", after="z", rest="")
@given(before=blocks, indent=lengths, typed=lines | st.just(""), after=blocks, rest=lines)
def test_a_request_is_within_the_engines_bounds(language_id, before, indent, typed, after, rest):
    language = language_for_id(language_id)
    opener, step = OPENERS[language_id]
    margin = " " * indent
    head = f"{before}\n{margin}{opener}\n{margin}{step}{typed}"
    for tail in (f"\n{after}\n{margin}}}\n```\n", f"\n{margin}}}\n{after}", f"{rest}\n{after}"):
        text = head + tail
        plan = plan_at_cursor(text, len(head), language, FillOptions())
        if isinstance(plan, FillPlan):
            accepted(plan.request(FillOptions()))
        end = min(len(text), len(head) + MAX_DRAFT_CHARS)
        selected = plan_fill(hole_for_range(text, len(head), end, language), FillOptions())
        accepted(selected.request(FillOptions()))
        accepted(selected.request(FillOptions(), noise=0.5))


def test_passages_keep_their_order_and_empty_ones_are_left_out() -> None:
    passages = [("b.py", "x = 1"), ("c.py", ""), ("a.py", "y = 2")]
    assert to_project_context(passages, "house", "main.py") == ProjectContext(
        repository="house",
        path="main.py",
        chunks=(ContextChunk(path="b.py", text="x = 1"), ContextChunk(path="a.py", text="y = 2")),
    )


def test_without_passages_there_is_no_project() -> None:
    assert to_project_context([], "house", "main.py") is None
    assert to_project_context([("a.py", "")], "house", "main.py") is None
