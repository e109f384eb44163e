"""Holes as ids and back: the true ids are the true text, and other ids what the engine makes."""

import asyncio
import gzip
import json
from pathlib import Path

import msgspec
import pytest
from click.testing import Result
from laboratory import run
from sample_cases import SAMPLE, case
from toy_causal_tokenizer import toy_tokenizer

from intarsia.cli.errors import ExitCode
from intarsia.engine.families.masked_causal.backbone.fim_marks import KNOWN_MARKS
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.backbone.token_codec import HubCodec
from intarsia.infill.suggestion import NoSuggestion
from intarsia_research.commands import uniform
from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.record import read_run
from intarsia_research.uniform_study.encoded_cases import Starts, encode_case
from intarsia_research.uniform_study.judged_answers import (
    UNBOUND,
    AnswerLine,
    RecordedArm,
    filled_with,
)
from intarsia_research.uniform_study.read_cases import CaseReader, CaseTask

TEXT = FimTokenizer(HubCodec(toy_tokenizer()), KNOWN_MARKS[0])
READER = CaseReader(TEXT, vocab_size=TEXT.num_tokens, max_context_tokens=2_000)
END = TEXT.mark_ids().end

WORD = case("def f(value):\n    retu", "rn value", "\n\n\nprint(f(1))\n", name="word")
RANGE = case("def f(a):\n    b = [", "a,\n         a", "]\n", kind="random_span", name="range")
BEFORE = case("if a:\n    ", "b = 1\n    ", "c = 2\n", kind="line", name="new line")
REFUSED = ("binary", "before a byte order mark", "secret")
HOLES = [it for it in (*SAMPLE, WORD, RANGE, BEFORE) if it.id not in REFUSED]


def line(of: Case, ids: list[int], **others: object) -> AnswerLine:
    own = {"set": of.set, "case": of.id, "arm": "toy", "ids": ids, "num_forwards": 2}
    return msgspec.convert({**own, "confidences": [0.5] * len(ids), **others}, AnswerLine)


def answered(of: Case, *lines: AnswerLine) -> Answer:
    return asyncio.run(RecordedArm("toy", {(of.set, of.id): lines}, READER).fill(of))


def read(of: Case) -> CaseTask:
    task = READER.read(of)
    assert not isinstance(task, NoSuggestion)
    return task


@pytest.mark.parametrize("of", HOLES, ids=lambda it: it.id)
def test_the_true_ids_are_bound_and_come_back_as_the_true_text(of: Case):
    starts = Starts(TEXT)
    hole = encode_case(of, READER, starts)
    task, bound = read(of), hole.healed
    assert (hole.context, hole.healed is None) == (task.fill.context, task.fill.healed == b"")
    assert TEXT.encode(task.plan.canvas.suffix)[:64] == hole.suffix
    for token in hole.truth:
        if bound is not None:
            assert token in starts.rows[bound].ids
            bound = starts.rows[bound].then.get(token)
    assert bound is None
    text = "".join(TEXT.pieces(hole.truth, num_given=len(task.fill.healed)))
    assert text == of.truth.removesuffix(task.plan.after)
    answer = answered(of, line(of, [*hole.truth, END, *TEXT.encode("more")]))
    assert (answer.text, answer.reason) == (of.truth, None)


def test_typed_bytes_are_healed_over_several_tokens_and_no_hole_has_a_reason():
    starts = Starts(TEXT)
    word, binary = (encode_case(it, READER, starts) for it in (WORD, SAMPLE[-3]))
    assert word.healed is not None
    start = starts.rows[word.healed]
    assert bytes.fromhex(start.bytes) == b" retu"
    blank = TEXT.encode(" ")[0]
    assert [*start.then] == [blank], "a longer token leaves nothing to bind"
    assert bytes.fromhex(starts.rows[start.then[blank]].bytes) == b"retu"
    assert word.truth[0] == TEXT.encode(" return")[0]
    assert "NUL" in str(binary.reason) and not binary.context


@pytest.mark.parametrize(
    ("after", "ending"),
    [
        ([END, *TEXT.encode("junk")], "end_of_hole"),
        (TEXT.encode("\njunk"), "end_of_hole"),
        ([], "max_tokens"),
        (TEXT.encode(" ".join(map(str, range(200)))), "max_tokens"),
    ],
    ids=["end token", "stop text", "neither", "no room"],
)
def test_a_hole_ends_where_the_engine_would_end_it(after: list[int], ending: str):
    task, truth = read(WORD), READER.truth(read(WORD))
    filled = filled_with(TEXT, task, line(WORD, [*truth, *after]), 0)
    num_after = task.fill.request.max_tokens - len(truth) if len(after) > 99 else 0
    assert (len(filled.tokens), filled.finish_reason) == (len(truth) + num_after, ending)
    assert filled.tokens[0].text == "rn", "the typed letters are not repeated"
    assert filled.text == WORD.truth + "".join(TEXT.pieces(after[:num_after], num_given=0))


def test_unbound_tokens_are_no_answer_and_the_next_alternative_is_taken():
    unbound = line(WORD, TEXT.encode("value"), num_forwards=3)
    answer = answered(WORD, unbound)
    assert (answer.text, answer.reason) == ("", UNBOUND.reason)
    right = line(WORD, [*READER.truth(read(WORD)), END])
    answer = answered(WORD, unbound, right)
    assert (answer.text, answer.reason, answer.num_forwards) == (WORD.truth, None, 5)


PROBLEM = {"entry_point": "f", "prompt": "def f(a, b):\n", "suffix": "", "test": ""}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Encode two toy problems; return the file of cases, and where answers and runs go."""
    monkeypatch.setattr(uniform, "default_reader", lambda: READER)
    problems = [
        {"task_id": f"SingleLineInfilling/T/{it}/L0", "canonical_solution": f"    return {it}"}
        for it in "ab"
    ]
    (tmp_path / "toy.jsonl").write_text("\n".join(json.dumps(PROBLEM | it) for it in problems))
    made = [tmp_path / name for name in ("cases.jsonl.gz", "answers.jsonl.gz", "runs")]
    result = run("uniform", "encode", "--set", tmp_path / "toy.jsonl", "--out", made[0])
    assert result.exit_code == ExitCode.OK and "2 holes" in result.stdout, result.output
    return made


def judged(files: list[Path], *lines: object) -> Result:
    files[1].write_bytes(gzip.compress(b"\n".join(map(msgspec.json.encode, lines))))
    return run("uniform", "judge", *files[:2], "--out", files[2], "--no-exec")


def test_each_arm_becomes_a_run_that_eval_compares(files: list[Path]):
    first, second = [
        json.loads(it) for it in gzip.decompress(files[0].read_bytes()).splitlines()[1:]
    ]
    given = {"num_forwards": 4, "num_steps": 3, "confidences": [1.0] * len(first["truth"])}
    lines = [
        given | {"set": it["set"], "case": it["case"], "arm": arm, "ids": from_["truth"]}
        for it in (first, second)
        for arm, from_ in (("true", it), ("same", first))
    ]
    result = judged(files, *lines)
    assert result.exit_code == ExitCode.OK, result.output
    runs = [files[2] / f"{arm}.json" for arm in ("true", "same")]
    exact = [[row.judgement.is_exact for row in read_run(file).rows] for file in runs]
    assert exact == [[True, True], [True, False]]
    compared = json.loads(run("eval", "--compare", *runs, "--json").stdout)
    assert compared["shares"]["exact"]["only_first"] == 1
    assert compared["means"]["forward passes"]["first"] == 4


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"case": "other"}, "none of the cases"),
        ({"confidences": []}, "a confidence for each id"),
        ({"arm": "../up"}, "line 1 of"),
        ({"ids": [-1]}, "line 1 of"),
    ],
)
def test_a_wrong_answer_is_one_line(files: list[Path], change: dict[str, object], told: str):
    result = judged(files, msgspec.to_builtins(line(WORD, [1])) | change)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert told in result.stderr and result.stderr.count("\n") == 1
