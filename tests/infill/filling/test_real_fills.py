"""Whole files filled by the real engine with the default model: the result is valid code."""

import ast

import pytest

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.fill_places import fill_all
from intarsia.infill.filling.plan import FillContext, FillOptions
from intarsia.infill.holes.find_holes import find_holes
from intarsia.infill.languages import Language, language_for_id

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]

PYTHON, RUST = language_for_id("python"), language_for_id("rust")


async def filled(address: Address, text: str, language: Language) -> str:
    holes = find_holes(text, language)
    async with EngineClient(name="test", address=address) as client:
        context = FillContext(ask=client.fill, language=language, options=FillOptions())
        fillings = await fill_all(context, text, holes)
    assert [filling.refusal for filling in fillings] == [None] * len(holes)
    return fillings[-1].result


async def test_two_functions_of_a_python_file(real_engine_runtime: Address) -> None:
    text = (
        'def add(left, right):\n    """Return the sum of left and right."""\n    ...\n\n\n'
        "def mean(values):\n    # TODO: the sum by the number of values\n    pass\n"
    )
    result = await filled(real_engine_runtime, text, PYTHON)
    names: dict[str, object] = {}
    exec(compile(ast.parse(result), "filled", "exec"), names)
    assert names["add"](1, 2) == 3
    assert names["mean"]([1, 2, 6]) == 3
