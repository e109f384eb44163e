"""The program that times passes measures the default model, and says what it cannot measure."""

import msgspec
import pytest

from intarsia_research.model_cost.pass_cost import PassFigures, main


def test_a_model_that_is_none_is_one_line(capsys: pytest.CaptureFixture[str]):
    assert main(["--model", "none"]) == 1
    shown = capsys.readouterr()
    assert shown.out == "" and "no model 'none'" in shown.err and shown.err.count("\n") == 1


@pytest.mark.model
def test_the_default_model_is_measured_at_every_size(capsys: pytest.CaptureFixture[str]):
    assert main(["--json"]) == 0
    measured = msgspec.json.decode(capsys.readouterr().out, type=PassFigures)
    assert list(measured.pass_ms) == [1, 8, 16, 32, 64]
    assert all(ms > 0 for ms in measured.pass_ms.values())
    assert measured.repeats >= 8
    assert measured.loaded_bytes > 0
