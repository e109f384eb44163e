"""The command that makes training data of edits."""

from pathlib import Path

import pytest
from git_clone import Clone
from laboratory import run

from intarsia.cli.errors import ExitCode
from intarsia_research.edits.edit_set import read_edit_set

MIT = "Permission is hereby granted, free of charge, to any person. The software is provided as is."
BEFORE = "".join(f"def part_{n}(box):\n    return box.cost + {n}\n" for n in range(9))
AFTER = BEFORE.replace("cost", "price", 3)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    clone = Clone(tmp_path / "owner+shop")
    clone.commit_files({"LICENSE": MIT, "shop.py": BEFORE})
    clone.commit_files({"shop.py": AFTER})
    return clone


def test_a_set_is_written_and_counted(tmp_path: Path, clone: Clone) -> None:
    out = tmp_path / "new" / "set.jsonl.gz"
    result = run("corpus", "edits", "--clone", clone.folder, "--out", out, "--seed", "3")
    assert result.exit_code == ExitCode.OK, result.stderr
    assert f"{out}: 1 edits, 0 controls, seed 3" in result.stdout
    assert "rename" in result.stdout and "owner/shop" in result.stdout
    (case,) = read_edit_set(out)
    assert len(case.hunks) == 3


def test_what_cannot_be_used_is_one_line(tmp_path: Path, clone: Clone) -> None:
    clone.git("remote", "add", "origin", "https://example.org/pallets/click")
    result = run("corpus", "edits", "--clone", clone.folder, "--out", tmp_path / "set.jsonl.gz")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "pallets/click is kept for evaluation" in result.stderr.splitlines()[-1]
    assert not (tmp_path / "set.jsonl.gz").exists()


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path, clone: Clone) -> None:
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "set.jsonl.gz"
    result = run("corpus", "edits", "--clone", clone.folder, "--out", out)
    assert result.exit_code == ExitCode.NOT_WRITTEN
    assert "was not written" in result.stderr.splitlines()[-1]
