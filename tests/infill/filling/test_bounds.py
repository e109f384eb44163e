"""No request that is built of a file is beyond what the engine takes, whatever the file holds."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from intarsia.engine.config import EngineConfig
from intarsia.engine.families.validate_request import bounded, require_common_fields
from intarsia.engine.ipc.messages import Fill
from intarsia.infill.filling.fill_in_order import MAX_DRAFT_CHARS
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import FillPlan, plan_at_cursor, plan_fill
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
def test_a_request_is_within_the_engines_bounds(
    language_id: str, before: str, indent: int, typed: str, after: str, rest: str
) -> None:
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
        selected = plan_fill(
            text, hole_for_range(text, len(head), end, language), language, FillOptions()
        )
        accepted(selected.request(FillOptions()))
        accepted(selected.rewrite_request(FillOptions(), 0.5))
