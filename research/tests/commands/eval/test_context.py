"""The choices of ``--context``: which kinds of code of other files each of them names."""

import pytest

from intarsia.workspace.context.options import ChunkOptions
from intarsia_research.commands.eval.context import CHOICES, KINDS, chunk_options


@pytest.mark.parametrize("choice", CHOICES)
def test_a_choice_names_one_kind_or_leaves_it_out(choice: str) -> None:
    alone, others = choice, set(KINDS) - {choice.removeprefix("no-")}
    options = chunk_options(choice, None)
    if choice == "none":
        assert options is None
    else:
        assert options is not None
        assert options.kinds == ({alone} if alone in KINDS else others)
        assert options.budget_tokens == ChunkOptions().budget_tokens


def test_the_number_of_tokens_can_be_limited() -> None:
    options = chunk_options("all", 100)
    assert options is not None and options.budget_tokens == 100
