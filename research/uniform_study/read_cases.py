"""Read a case as token ids: the plan of an editor's fill, and the engine's task for it."""

from dataclasses import dataclass

from intarsia.engine.config import EngineConfig
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import (
    FimTokenizer,
    read_fim_tokenizer,
)
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.families.masked_causal.read_request import (
    FillTask,
    RequestReader,
    split_after_context,
)
from intarsia.engine.fill_control import FillControl
from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia.engine.model_store.locate import locate_model
from intarsia.infill.filling.plan import FillOptions, FillPlan
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import with_plain_newlines
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.systems.client import patient, plan_case


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseTask:
    """A case, its plan, and its request as ids."""

    case: Case
    plan: FillPlan
    fill: FillTask


class CaseReader:
    """Plans cases as ``eval --direct`` does, without code of other files.

    The engine's reader is never told that a context is used, so a case reads the same in any order.
    """

    def __init__(self, text: FimTokenizer, *, vocab_size: int, max_context_tokens: int) -> None:
        self.text = text
        self._options = patient(FillOptions(model=DEFAULT_MODEL))
        self._reader = RequestReader(
            text, vocab_size=vocab_size, max_context_tokens=max_context_tokens
        )

    def read(self, case: Case) -> CaseTask | NoSuggestion:
        """Return the task, or why there is no hole."""
        plan = plan_case(case, self._options)
        if isinstance(plan, NoSuggestion):
            return plan
        fill = self._reader.read(plan.request(self._options), FillControl())
        return CaseTask(case=case, plan=plan, fill=fill)

    def truth(self, task: CaseTask) -> list[int]:
        """Return the ids that continue the context to the true text, healed bytes included."""
        request, boundary = task.fill.request, task.fill.new_boundary
        after = "" if boundary is None else request.prefix[len(boundary.prefix) :]
        truth = with_plain_newlines(task.case.truth.removesuffix(task.plan.after))
        given, healed = split_after_context(self.text, after, request.given)
        ids = self.text.encode(after + request.given + truth)
        if ids[: len(given)] == given:
            return ids[len(given) :]
        return self.text.encode(healed.decode("utf-8", "replace") + truth)


def default_reader() -> CaseReader:
    """Return a reader with the tokenizer and the limits of the default model. Raises ModelError."""
    folder = locate_model(DEFAULT_MODEL, lambda *_: None, rows_tuned_by=rows_tuned_by)
    shape = read_shape(folder.config)
    most = min(EngineConfig().max_context_tokens, shape.max_positions // 2)
    text = read_fim_tokenizer(folder.path)
    return CaseReader(text, vocab_size=shape.vocab_size, max_context_tokens=most)
