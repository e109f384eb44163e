"""Holes that every system gets with the same token ids: single lines of HumanEval's problems."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intarsia.engine.families.masked_causal.read_request import FillTask, RequestReader
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.fill_control import FillControl
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.suggestion import NoSuggestion
from intarsia_research.evaluation.sets.humaneval import read_humaneval
from intarsia_research.evaluation.systems.client import plan_case

MAX_CONTEXT_TOKENS = 700
"""Of prefix and suffix together: fits into the smallest slot of the servers that are compared."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hole:
    """A case's name, and its task as token ids."""

    case: str
    task: FillTask


def line_holes(
    file: Path, text: FimTokenizer, *, num_holes: int, max_tokens: int, seed: int
) -> Sequence[Hole]:
    """Return one hole of each of ``num_holes`` problems, in an order that the seed chooses.

    Lines that we would fill with a whole block are left out, such as those after a header. The text
    of a hole has at most ``max_tokens`` tokens. Raises EvaluationFault for a wrong file.
    """
    options = FillOptions(max_tokens=max_tokens, is_fresh=True)
    holes: dict[str, Hole] = {}
    for case in read_humaneval(file, limit=None, seed=seed):
        plan = plan_case(case, options)
        if case.group in holes or isinstance(plan, NoSuggestion) or plan.hole.kind != "line":
            continue
        # A reader of its own: no context boundary of an earlier hole moves this one's prompt.
        reader = RequestReader(
            text, vocab_size=text.num_tokens, max_context_tokens=MAX_CONTEXT_TOKENS
        )
        task = reader.read(plan.request(options), FillControl())
        holes[case.group] = Hole(case=case.id, task=task)
        if len(holes) == num_holes:
            break
    return list(holes.values())
