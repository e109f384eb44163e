"""What is measured is found wherever it was pasted; ordinary code is not taken for it."""

import gzip
import json

import pytest
from checkout import HUMANEVAL, ROOT

from intarsia_research.corpus.contamination import MeasuredTexts


def problems() -> dict[str, str]:
    """Return HumanEval's programs with their tests, one of each."""
    with gzip.open(HUMANEVAL / "HumanEval-SingleLineInfilling.jsonl.gz", "rt") as rows:
        found = [json.loads(row) for row in rows]
    return {
        it["entry_point"]: it["prompt"] + it["canonical_solution"] + it["suffix"] for it in found
    }


@pytest.fixture(scope="module")
def measured() -> MeasuredTexts:
    return MeasuredTexts(problems().values())


def test_every_program_is_found_when_it_is_pasted_into_a_file(measured: MeasuredTexts):
    missed = [
        name
        for name, program in problems().items()
        if measured.shared_with(f"import os\n\n\ndef run():\n    pass\n\n\n{program}\n") is None
    ]
    assert missed == []


def test_a_solution_is_found_without_its_docstring_and_in_another_layout(measured: MeasuredTexts):
    program = problems()["has_close_elements"]
    body = program.rpartition('"""')[2].replace("    ", "\t")
    assert measured.shared_with(f"def near(numbers, threshold):\n{body}\n") is not None


def test_our_own_sources_share_nothing_with_it(measured: MeasuredTexts):
    shared = {
        file.name: stretch
        for folder in ("infill", "lsp", "filling", "engine")
        for file in (ROOT / folder).rglob("*.py")
        if (stretch := measured.shared_with(file.read_text(encoding="utf-8")))
    }
    assert shared == {}


def test_a_stretch_of_few_different_words_is_not_looked_for():
    text = "if x is none return none if x is none return none if x is none"
    assert MeasuredTexts([text]).num_ngrams == 0
    assert MeasuredTexts([text], min_different_words=4).shared_with(text) is not None


def test_a_shorter_stretch_is_no_sign():
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
    measured = MeasuredTexts([words])
    assert measured.num_ngrams == 1
    assert measured.shared_with(f"before {words.replace(' ', ', ')} after") == words
    assert measured.shared_with(words.removesuffix(" kappa")) is None
