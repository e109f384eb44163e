"""The commands with the real engine and the default model, as a new user meets them."""

import json
from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.demo import read_samples
from intarsia.engine.ipc.address import Address

pytestmark = pytest.mark.model


@pytest.fixture(autouse=True)
def address(real_engine_runtime: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one real engine of this run is at each command's address."""
    for name, value in real_engine_runtime.as_environment().items():
        monkeypatch.setenv(name, value)


def test_the_demo_fills_every_hole():
    result = run("demo")
    assert result.exit_code == 0, result.stdout + result.stderr
    assert result.stdout.count(" forward passes · ") + result.stdout.count(
        " forward pass · "
    ) == len(read_samples())
    assert "no suggestion" not in result.stdout


def test_a_line_that_both_sides_tell_is_filled_as_anyone_would(tmp_path: Path):
    path = tmp_path / "shapes.py"
    path.write_text(
        "def area(width, height):\n    return width * height\n\n\n"
        "def perimeter(width, height):\n    return \n\n\n"
        "assert perimeter(2, 3) == 10\n"
    )
    result = run("fill", path, "--at", "6:12", "--write", "--json")
    assert result.exit_code == 0, result.stdout + result.stderr
    report = json.loads(result.stdout)
    assert report["model"] == "qwen2.5-coder-0.5b"
    assert report["num_prefilled"] > 0
    names: dict[str, object] = {}
    exec(path.read_text(), names)  # what was written is Python, and its assertion holds
