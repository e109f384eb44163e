"""Rewriting by the default model itself: wrong tokens are found, right lines come back."""

import pytest
from toy_causal_fill import run_fill

from intarsia.engine.config import EngineConfig
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.service.load_filler import load_filler

pytestmark = [pytest.mark.model, pytest.mark.timeout(1200)]

WRONG = {  # prefix, draft, suffix, what it becomes with 0.4 of its tokens masked
    "variable": (
        "def running_mean(values):\n"
        '    """Return the mean of all values up to and with each one."""\n'
        "    total = 0.0\n    means = []\n    for i, value in enumerate(values):\n",
        "        total += i\n",
        "        means.append(total / (i + 1))\n    return means\n",
        "        total += value\n",
    ),
    "operator": (
        "/** Returns the largest number of the list. */\nfunction largest(numbers) {\n"
        "  let best = numbers[0];\n  for (const number of numbers) {\n    ",
        "if (number < best) {",
        "\n      best = number;\n    }\n  }\n  return best;\n}\n",
        "if (number > best) {",
    ),
    "off by one": (
        "function sum(items) {\n  let total = 0;\n",
        "  for (let i = 0; i <= items.length; i++) {\n",
        "    total += items[i];\n  }\n  return total;\n}\n",
        "  for (let i = 0; i < items.length; i++) {\n",
    ),
}
RIGHT = [(prefix, right, suffix) for prefix, _, suffix, right in WRONG.values()]


@pytest.fixture(scope="module")
def filler() -> Filler:
    config = EngineConfig()
    return load_filler(config, config.model, lambda stage, fraction: None)


def rewritten(filler: Filler, prefix: str, draft: str, suffix: str, noise: float) -> str:
    request = Fill(id=1, prefix=prefix, suffix=suffix, draft=draft, noise=noise)
    return run_fill(filler, request).text


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_token_is_made_right(filler: Filler, name: str) -> None:
    prefix, draft, suffix, right = WRONG[name]
    assert rewritten(filler, prefix, draft, suffix, 0.4) == right


@pytest.mark.parametrize("case", RIGHT)
@pytest.mark.parametrize("noise", [0.2, 0.4])
def test_a_right_line_comes_back(filler: Filler, case: tuple[str, str, str], noise: float) -> None:
    prefix, draft, suffix = case
    assert rewritten(filler, prefix, draft, suffix, noise) == draft
