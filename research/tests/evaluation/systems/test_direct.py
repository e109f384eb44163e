"""Cases asked of the engine straight, and of a real server."""

import itertools
import os
from dataclasses import replace
from pathlib import Path

import pytest
from faulty_server import faulty_server_command
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_engine import rule_engine_launch
from rule_server import rule_server_command
from sample_cases import case

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.canvas import Budget
from intarsia.infill.filling.plan import FillOptions, FillPlan
from intarsia.infill.syntax.text import line_starts, splits_line_end
from intarsia.lsp.positions import position_at
from intarsia.lsp.settings import Settings
from intarsia.lsp.settings_in_force import resolve_settings
from intarsia.lsp.snapshots import options_of
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.answer import MAX_IN_A_ROW
from intarsia_research.evaluation.server_process import serving
from intarsia_research.evaluation.systems.client import patient, plan_case, server_options
from intarsia_research.evaluation.systems.direct import Direct
from intarsia_research.evaluation.systems.language_server import LanguageServer, position_of


async def start(address: Address, **options: object) -> None:
    launch = rule_engine_launch(**options)
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.status()


async def test_options_that_no_editor_has_are_used_and_told(runtime: Address) -> None:
    await start(runtime, text="a + b + c", num_steps=4)
    direct = Direct(FillOptions(max_steps=2, seed=3), name="short", address=runtime)
    async with direct.ready() as client:
        answer = await client.fill(case("y = "))
    assert answer.num_forwards == 2 * 2  # what is cut short does not hold: a second look is taken
    assert (client.info.name, client.info.way) == ("short", "direct")
    assert {"max_steps": "2", "seed": "3"}.items() <= client.info.details.items()


async def test_a_hole_that_the_engine_refuses_is_a_failure(runtime: Address) -> None:
    await start(runtime, text="1")
    async with Direct(FillOptions(max_tokens=-1), address=runtime).ready() as client:
        answer = await client.fill(case("y = "))
    assert (answer.text, answer.is_failure) == ("", True)
    assert answer.reason is not None
    assert "max_tokens must be 1 or more" in answer.reason


def is_fresh(options: FillOptions) -> bool:
    plan = plan_case(case("y = "), options)
    assert isinstance(plan, FillPlan)
    return plan.request(options).fresh


def test_no_case_starts_from_the_answer_to_another() -> None:
    asked = patient(FillOptions())
    settings, problems = resolve_settings(server_options(asked))
    assert problems == ()
    assert is_fresh(asked)
    assert is_fresh(options_of(settings, 1_000))


def test_what_a_user_types_does() -> None:
    assert not is_fresh(FillOptions())
    assert not is_fresh(options_of(Settings(), 1_000))


GOOD = case("y = ", "1")


@settings(max_examples=100)
@given(st.text(st.sampled_from("a\r\n\t ß😀𝒳\x0c\u2028"), max_size=20))
def test_positions_are_those_of_the_server(text: str) -> None:
    starts = line_starts(text)
    for offset in range(len(text) + 1):
        if not splits_line_end(text, offset):
            there = position_at(text, starts, offset, "utf-16")
            assert position_of(text, offset) == {"line": there.line, "character": there.character}


async def test_an_answer_holds_what_the_server_says_of_it(runtime: Address) -> None:
    server = LanguageServer(address=runtime, command=rule_server_command(text="a + b", num_steps=2))
    async with server.ready() as client:
        answer = await client.fill(GOOD)
    assert (answer.text, answer.reason, answer.is_failure) == ("a + b", None, False)
    assert answer.engine_ms is not None
    assert answer.ms > answer.engine_ms > 0
    assert (answer.read_ms, answer.num_forwards, answer.num_tokens) == (0.0, 2, 3)
    assert (answer.mean_entropy, answer.num_read, answer.num_reused) == (0.0, 3, 0)


async def test_who_fills_and_how_is_told(runtime: Address) -> None:
    options = FillOptions(
        decoding="autoregressive", deadline_ms=5_000, budget=Budget(hole_tokens=64)
    )
    server = LanguageServer(options, address=runtime, command=rule_server_command(text="1"))
    async with server.ready() as client:
        info = client.info
    assert (server.name, info.name, info.way) == ("autoregressive",) * 2 + ("language server",)
    assert info.model is not None
    wanted = {
        "decoding": "autoregressive",
        "deadline_ms": "5000",
        "hole_tokens": "64",
        "trigger": "automatic",
        "device": "cpu",
        "notes": "rules, no weights",
    }
    assert wanted.items() <= info.details.items()


async def test_an_invoked_request_is_told_as_all_its_candidates(runtime: Address) -> None:
    command = rule_server_command(text="a{alternative}", num_steps=1)
    server = LanguageServer(name="key", is_invoked=True, address=runtime, command=command)
    async with server.ready() as client:
        answer = await client.fill(GOOD)
        assert client.info.details["trigger"] == "invoked"
    assert (answer.text, answer.num_forwards) == ("a0", 3)


async def test_the_project_of_a_hole_is_opened_and_read(runtime: Address, tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text("def price_of(article: str) -> int: return 3\n")
    (tmp_path / "shop.py").write_text("")
    hole = replace(
        case("from prices import price_of\n\ntotal = ", "price_of('pen')"),
        root=tmp_path,
        path="shop.py",
    )
    command = rule_server_command(text="'{project}'")
    server = LanguageServer(
        name="all", reads_project=True, address=runtime, command=command, reading_s=2
    )
    async with server.ready() as client:
        assert client.info.details["other files"] == "asked for again after 2 s"
        while "def price_of" not in (await client.fill(hole)).text:
            pass  # a busy machine may need more than these seconds


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("!die", "the language server has ended"),
        ("!hang", "no answer within 10 s"),
        ("!error", "the language server refused textDocument/inlineCompletion"),
        ("!replace", "the item replaces {'start': {'line': 0, 'character': 0}"),
    ],
)
async def test_a_fault_at_one_case_is_its_failure_and_the_next_is_filled(runtime, fault, reason):
    server = LanguageServer(
        FillOptions(deadline_ms=1_000),
        address=runtime,
        command=faulty_server_command(text="1"),
        slack_s=9,
    )
    async with server.ready() as client:
        failed = await client.fill(case(f"x = '{fault}' + "))
        assert (failed.text, failed.is_failure) == ("", True)
        assert failed.reason is not None
        assert reason in failed.reason
        assert (await client.fill(GOOD)).text == "1"


async def test_a_fault_of_the_engine_is_a_failure_and_no_empty_answer(runtime: Address) -> None:
    command = rule_server_command(text="1", rules=[("crash =", "!crash")])
    async with LanguageServer(address=runtime, command=command).ready() as client:
        failed = await client.fill(case("crash = "))
        assert (failed.text, failed.is_failure, failed.engine_ms) == ("", True, None)
        assert failed.reason is not None
        assert "the engine gave no answer" in failed.reason
        assert (await client.fill(GOOD)).text == "1"


async def test_a_server_that_always_dies_ends_the_evaluation(runtime: Address) -> None:
    server = LanguageServer(address=runtime, command=faulty_server_command(text="1"))
    bad = case("x = '!die' + ")
    asked = itertools.count()
    async with server.ready() as client:
        with pytest.raises(EvaluationFault, match=f"{MAX_IN_A_ROW} holes in a row got no answer"):
            while next(asked) < 2 * MAX_IN_A_ROW:
                assert (await client.fill(bad)).is_failure
    assert next(asked) == MAX_IN_A_ROW


async def test_a_model_that_is_none_is_the_engines_own_line(runtime: Address) -> None:
    options = FillOptions(model="missing-model")
    server = LanguageServer(options, address=runtime, command=rule_server_command(text="1"))
    with pytest.raises(EvaluationFault, match="no model 'missing-model': run `intarsia pull`"):
        async with server.ready():
            pass


async def test_a_cursor_within_a_crlf_cannot_be_asked_for(runtime: Address) -> None:
    server = LanguageServer(address=runtime, command=rule_server_command(text="1"))
    async with server.ready() as client:
        answer = await client.fill(case("x = \r", suffix="\ny = 2\n"))
    assert answer.is_failure
    assert answer.reason == "LSP has no position between the CR and the LF of a line end"


@pytest.mark.parametrize(
    "options", [FillOptions(seed=1), FillOptions(temperature=1.0), FillOptions(deadline_ms=60_001)]
)
def test_what_an_editor_cannot_ask_for_is_refused(options: FillOptions) -> None:
    with pytest.raises(EvaluationFault):
        LanguageServer(options)


INITIALIZE = {"processId": None, "rootUri": None, "capabilities": {}}


@pytest.mark.parametrize("python_path", ["", f"{os.pathsep}/none"])
async def test_a_module_in_the_users_folder_is_not_run(python_path, runtime, tmp_path, monkeypatch):
    """An empty part of PYTHONPATH is the working folder, which is therefore not the user's."""
    hostile = f"open({str(tmp_path / 'was_run')!r}, 'w').close()\n"
    for module in ("intarsia", "msgspec"):
        (tmp_path / f"{module}.py").write_text(hostile)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", python_path)
    async with serving(runtime.as_environment()) as server:
        answer = await server.request("initialize", INITIALIZE)
    assert answer["serverInfo"]["name"] == "intarsia"
    assert not (tmp_path / "was_run").exists()
