"""Through the language server and straight, the same text comes out."""

import pytest
from rule_engine import rule_engine_launch
from sample_cases import SAMPLE, case

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Decoding
from intarsia.infill.canvas.canvas import Budget
from intarsia.infill.filling.options import FillOptions
from intarsia.lsp.settings import Settings
from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.systems.direct import Direct
from intarsia_research.evaluation.systems.language_server import LanguageServer

RULES = [
    ("result +=", "lue  # the model's own\nprint()"),
    ("right) {\n ", "const sum = left + right;\n  return sum;\n}\n"),
    ("price) =>", "sum + price, 0);"),
    ("data = '", "unseen"),
    ("\n\t}\n", "return max(a, b"),
    ("nothing =", ""),
    ("half =", "2"),
]
MORE = (
    case("a = 1\n", "b = 2", "\nvalue_1\nprint(value_1)\n", kind="line", name="refused twice"),
    case("nothing = ", name="empty"),
    case("half = 1 +", "2", name="an operator before it"),
)


async def both(address: Address, options: FillOptions, cases: list[Case]) -> list[list[Answer]]:
    served, straight = LanguageServer(options, address=address), Direct(options, address=address)
    async with served.ready() as one, straight.ready() as other:
        assert one.info.model == other.info.model
        return [[await one.fill(case), await other.fill(case)] for case in cases]


def assert_same(one: Answer, other: Answer) -> None:
    assert (one.text, one.reason) == (other.text, other.reason)
    assert (one.is_failure, other.is_failure) == (False, False)
    assert (one.num_forwards, one.num_tokens) == (other.num_forwards, other.num_tokens)
    assert one.mean_entropy == pytest.approx(other.mean_entropy)
    assert (one.num_read or 0) + (one.num_reused or 0) == (other.num_read or 0) + (
        other.num_reused or 0
    )


async def test_an_engine_of_rules_is_read_in_the_same_way(runtime: Address) -> None:
    launch = rule_engine_launch(text="value_1", rules=RULES)
    async with EngineClient(name="test", launch=launch, address=runtime) as client:
        await client.preload()
    cases = [*SAMPLE, *MORE]
    answers = await both(runtime, FillOptions(), cases)
    for one, other in answers:
        assert_same(one, other)
    texts = {case.id: one.text for case, (one, _) in zip(cases, answers, strict=True)}
    assert texts["body with CRLF"] == "const sum = left + right;\r\n  return sum;"
    assert texts["half a word"] == "lue  # the model's own"
    assert texts["secret"] == "value_1"
    none = [name for name, text in texts.items() if not text]
    assert none == ["binary", "before a byte order mark", "refused twice", "empty"]


async def test_a_span_is_asked_as_a_range_and_may_have_several_lines(runtime: Address) -> None:
    fill = "1\n    if a:\n        return ab"
    launch = rule_engine_launch(text="", rules=[("a =", fill)])
    async with EngineClient(name="test", launch=launch, address=runtime) as client:
        await client.preload()
    cases = [
        case("def f():\n    a = ", fill, "s(a)\n", kind="random_span"),
        case("def f():\r\n    a = ", fill, "s(a)\r\n", kind="random_span"),
        case("x = ", "1", kind="random_span", name="nothing"),
    ]
    answers = await both(runtime, FillOptions(), cases)
    for one, other in answers:
        assert (one.text, one.reason) == (other.text, other.reason)
        assert not one.is_failure
        assert not other.is_failure
    texts = [one.text for one, _ in answers]
    assert texts == [fill, fill.replace("\n", "\r\n"), ""]


@pytest.mark.model
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("decoding", "num_cases"), [("speculative", 4), ("entropy", 2)])
async def test_the_real_model_writes_the_same(
    real_engine_runtime: Address, decoding: Decoding, num_cases: int
) -> None:
    options = FillOptions(decoding=decoding, budget=Budget(hole_tokens=48))
    answers = await both(real_engine_runtime, options, list(SAMPLE[:num_cases]))
    for one, other in answers:
        assert_same(one, other)
        assert one.engine_ms is None or one.ms > one.engine_ms > (one.read_ms or 0)
    assert answers[0][0].text == "left + right"


def test_by_default_both_are_asked_as_users_ask() -> None:
    options, settings = FillOptions(), Settings()
    assert (options.decoding, options.model) == (settings.decoding, settings.model)
    assert options.budget == Budget(
        prefix_tokens=settings.max_prefix_tokens,
        suffix_tokens=settings.max_suffix_tokens,
        hole_tokens=settings.max_hole_tokens,
    )
