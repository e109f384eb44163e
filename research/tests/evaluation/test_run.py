"""A run: who is asked when, what a row holds; served and straight, the same text comes out."""

import asyncio

import psutil
import pytest
from engine_watch import engine_once
from rule_engine import rule_engine_launch
from rule_server import rule_server_command
from sample_cases import SAMPLE, case
from scripted_system import ScriptedSystem

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.canvas import Budget
from intarsia.infill.filling.plan import FillOptions
from intarsia.lsp.settings import Settings
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.judge import Judgement
from intarsia_research.evaluation.record import Row, SystemInfo
from intarsia_research.evaluation.run import FIRST_CASE, RunProgress, run
from intarsia_research.evaluation.systems.direct import Direct
from intarsia_research.evaluation.systems.language_server import LanguageServer

CASES = [case(f"x{number} = ", "1", name=f"case {number}") for number in range(4)]


def judge(case: Case, answer: Answer) -> Judgement:
    return Judgement(
        is_exact=answer.text == case.truth,
        similarity=1.0,
        is_empty=not answer.text,
        parses=None,
        duplicates_suffix=False,
        length_error=0,
        passed=None,
    )


def trio(diary: list[str]) -> list[ScriptedSystem]:
    return [ScriptedSystem(name, diary, lambda case: "1") for name in "abc"]


async def test_the_systems_take_turns_and_the_first_goes_round() -> None:
    diary: list[str] = []
    rows = await run(CASES, trio(diary), judge=judge)
    asked = [entry[0] for entry in diary if " case " in entry]
    assert "".join(asked) == "abc" + "bca" + "cab" + "abc"
    assert [(row.system, row.case) for row in rows[:4]] == [
        ("a", "case 0"),
        ("b", "case 0"),
        ("c", "case 0"),
        ("b", "case 1"),
    ]


async def test_everyone_fills_one_hole_beforehand_that_is_not_in_the_rows() -> None:
    diary: list[str] = []
    rows = await run(CASES[:1], trio(diary), judge=judge)
    assert diary[:4] == ["a opened", f"a {FIRST_CASE.id}", "b opened", f"b {FIRST_CASE.id}"]
    assert {row.case for row in rows} == {"case 0"}


async def test_a_row_says_all_of_case_answer_and_judgement() -> None:
    long = case("a" * 700 + "b", "1", "c" + "d" * 400, kind="line", path="x.go", language="go")
    (row,) = await run([long], trio([])[:1], judge=judge)
    assert row == Row(
        case=long.id,
        set="sample",
        kind="line",
        language="go",
        group=long.group,
        system="a",
        before="a" * 599 + "b",
        after="c" + "d" * 299,
        truth="1",
        text="1",
        reason=None,
        is_failure=False,
        judgement=judge(long, Answer(text="1", reason=None, ms=1.0)),
        ms=1.0,
        num_read=7,
    )


async def test_what_was_done_before_a_fault_has_been_handed_out_and_all_are_closed() -> None:
    def fail(case: Case) -> str:
        if case is CASES[2]:
            raise EvaluationFault("out of memory: take a smaller model")
        return "1"

    diary: list[str] = []
    systems = [trio(diary)[0], ScriptedSystem("fails", diary, fail)]
    infos: list[SystemInfo] = []
    rows: list[Row] = []
    with pytest.raises(EvaluationFault, match="out of memory"):
        await run(CASES, systems, judge=judge, on_ready=infos.append, on_row=rows.append)
    assert [info.name for info in infos] == ["a", "fails"]
    assert [row.case for row in rows] == ["case 0"] * 2 + ["case 1"] * 2 + ["case 2"]
    assert diary[-2:] == ["fails closed", "a closed"]


async def test_a_cancelled_run_closes_all_and_loses_no_row() -> None:
    diary: list[str] = []
    rows: list[Row] = []
    systems = trio(diary)
    task: asyncio.Task[tuple[Row, ...]]

    def take(row: Row) -> None:
        rows.append(row)
        if len(rows) == 5:
            task.cancel()

    async def fill(case: Case) -> Answer:
        await asyncio.sleep(0)  # where a cancel is met
        return Answer(text="1", reason=None, ms=1.0)

    systems[0].fill = fill
    task = asyncio.create_task(run(CASES, systems, judge=judge, on_row=take))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(rows) == 5
    assert diary[-3:] == ["c closed", "b closed", "a closed"]


async def test_a_run_cancelled_in_the_middle_of_a_fill_leaves_no_server(runtime: Address) -> None:
    rules = [("x1 =", "1 2 3 4 5 6 7 8 9" * 1_000)]
    command = rule_server_command(text="1", rules=rules, step_seconds=0.1)
    rows: list[Row] = []
    task: asyncio.Task[tuple[Row, ...]]

    async def cancel_once_it_fills() -> None:
        await engine_once(runtime, lambda status: status.state == "filling")
        task.cancel()

    def follow(progress: RunProgress) -> None:
        if progress.in_words == "case 2 of 4, speculative":
            cancelling.append(asyncio.create_task(cancel_once_it_fills()))

    cancelling: list[asyncio.Task[None]] = []
    server = LanguageServer(address=runtime, command=command)
    work = run(CASES, [server], judge=judge, on_progress=follow, on_row=rows.append)
    task = asyncio.create_task(work)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [row.text for row in rows] == ["1"]
    commands = [" ".join(child.cmdline()) for child in psutil.Process().children()]
    assert not [command for command in commands if "rule_server" in command]


async def test_one_that_cannot_be_made_ready_leaves_no_other_open() -> None:
    class Missing(ScriptedSystem):
        def ready(self):
            raise EvaluationFault("no model")

    diary: list[str] = []
    missing = Missing("m", diary, lambda case: "1")
    with pytest.raises(EvaluationFault, match="no model"):
        await run(CASES, [*trio(diary), missing], judge=judge)
    assert diary[-3:] == ["c closed", "b closed", "a closed"]


async def test_names_are_unique() -> None:
    with pytest.raises(EvaluationFault, match="two systems have the name 'a'"):
        await run(CASES, trio([])[:1] * 2, judge=judge)


async def test_of_those_who_share_an_engine_the_first_one_has_the_context_read(runtime: Address):
    served = LanguageServer(name="served", address=runtime, command=rule_server_command(text="1"))
    straight = Direct(name="straight", address=runtime)
    rows = await run(CASES[:2], [served, straight], judge=judge)
    read = [(row.system, bool(row.num_read), row.read_ms) for row in rows]
    assert read == [
        ("served", True, 0.0),
        ("straight", False, 0.0),
        ("straight", True, 0.0),
        ("served", False, 0.0),
    ]


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
@pytest.mark.parametrize(("decoding", "num_cases"), [("speculative", 4), ("autoregressive", 2)])
async def test_the_real_model_writes_the_same(real_engine_runtime, decoding, num_cases):
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
