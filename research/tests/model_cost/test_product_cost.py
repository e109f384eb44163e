"""The program that compares int8 products with torch's prints a line for each matrix of a layer."""

import re
from typing import Any

import numpy as np
import pytest

from intarsia.engine.families.masked_causal.backbone.int8_weights import is_int8_supported
from intarsia_research.model_cost import product_cost
from intarsia_research.model_cost.rival_products import rival_products

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
    for line in lines:
        times = [float(ms) for ms in re.findall(r"([\d.]+) ms", line)]
        assert len(times) > 1 and all(ms > 0 for ms in times), line
        assert all(library in line for library in ("ours ", "torch _int_mm ")), line
        assert float(line.split()[-1]) > 0, line


def test_the_libraries_multiply_what_they_are_given() -> None:
    random = np.random.default_rng(0)
    x, weight = (random.standard_normal((rows, 128), dtype=np.float32) for rows in (17, 64))
    for library, products in rival_products(x, [weight]).items():
        found: Any = products[0]()
        numbers = np.asarray(found[0] if isinstance(found, list) else found, np.float32) / 1600
        assert np.abs(numbers - x @ weight.T).max() < 2.0, library
