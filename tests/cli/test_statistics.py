"""``intarsia status --stats``: the counts as a table and as JSON; no engine is needed."""

import json
from pathlib import Path

import pytest
from command_line import run

from intarsia.lsp.statistics.counts import Counts, LanguageCounts
from intarsia.lsp.statistics.file import add_counts, statistics_file


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path))


def test_without_counts_it_says_so():
    result = run("status", "--stats")
    assert (result.exit_code, result.stdout.startswith("Nothing was counted")) == (0, True)


def test_the_counts_are_shown_by_language_and_by_reason():
    counts = Counts(
        languages={
            "python": LanguageCounts(shown=10, accepted=4, kept=3, ended=4),
            "go": LanguageCounts(shown=2, accepted=1, kept=1, ended=1),
        },
        not_shown={"deleted": 7},
    )
    add_counts(statistics_file(), counts)
    lines = [line.split() for line in run("status", "--stats").stdout.splitlines()]
    assert ["python", "10", "4", "40%", "3", "75%"] in lines
    assert ["all", "12", "5", "42%", "4", "80%"] in lines
    assert ["deleted", "7"] in lines
    answer = json.loads(run("status", "--stats", "--json").stdout)
    assert answer["counts"]["languages"]["go"] == {
        "shown": 2,
        "accepted": 1,
        "kept": 1,
        "ended": 1,
    }
