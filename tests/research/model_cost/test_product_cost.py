"""The program that compares int8 products with torch's prints a line for each matrix of a layer."""

import re

import pytest

from intarsia.engine.families.masked_causal.backbone.int8_weights import is_int8_supported
from intarsia.research.model_cost import product_cost

pytestmark = pytest.mark.skipif(
    not is_int8_supported(), reason="this processor has no int8 dot product"
)


def test_each_product_is_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(product_cost, "SHAPES", {"wide": (64, 128), "tall": (32, 256)})
    assert product_cost.main(["--rows", "17,32", "--rounds", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["17"] * 3 + ["32"] * 3
    assert [line.split()[2] for line in lines] == ["wide", "tall", "layer"] * 2
    pattern = r"ours +([\d.]+) ms, [\d.]+ TOPS +torch +([\d.]+) ms, [\d.]+ TOPS +([\d.]+)$"
    for line in lines:
        found = re.search(pattern, line)
        assert found is not None, line
        assert all(float(number) > 0 for number in found.groups())
