"""An engine that answers from a script and records its requests, to test the code around it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from intarsia.engine.ipc.messages import (
    Candidate,
    CanvasToken,
    Fill,
    Filled,
    FinishReason,
    Step,
    Timing,
)
from intarsia.infill.filling.plan import FillContext, FillOptions
from intarsia.infill.languages import language_for_id
from intarsia.infill.suggestion import NoSuggestion


def filled_with(text: str, **fields: Any) -> Filled:
    """Return an answer of an engine, as if one pass had written the text in no time."""
    usual: dict[str, Any] = {
        "id": 1,
        "tokens": (),
        "num_forwards": 1,
        "ms": Timing(queue=0, prefill=0, denoise=0, total=0),
        "mean_entropy": 0.0,
        "finish_reason": "end_of_hole",
        "model": "script",
        "num_prefilled": 0,
        "num_reused": 0,
    }
    return Filled(text=text, **usual | fields)


@dataclass
class ScriptedEngine:
    """``script`` takes a request and returns a text, a text with its mean entropy, or a reason."""

    script: Callable[[Fill], str | tuple[str, float] | NoSuggestion]
    requests: list[Fill] = field(default_factory=list)
    finish_reason: FinishReason = "end_of_hole"
    others: tuple[str, ...] = ()

    def context(self, language: str = "python", **fields: Any) -> FillContext:
        """Return what the fills of a text by this engine have in common."""
        fields = {"options": FillOptions(), **fields}
        return FillContext(ask=self.fill, language=language_for_id(language), **fields)

    async def fill(
        self, request: Fill, on_step: Callable[[Step], None] | None = None
    ) -> Filled | NoSuggestion:
        self.requests.append(request)
        answer = self.script(request)
        if isinstance(answer, NoSuggestion):
            return answer
        text, entropy = answer if isinstance(answer, tuple) else (answer, 0.0)
        tokens = (CanvasToken(text, 1.0, True),)
        if on_step is not None:
            on_step(Step(id=request.id, step=1, tokens=tokens))
        return filled_with(
            text,
            id=request.id,
            tokens=tokens,
            mean_entropy=entropy,
            finish_reason=self.finish_reason,
            others=tuple(
                Candidate(text=other, tokens=(), mean_entropy=0.5, finish_reason="end_of_hole")
                for other in self.others
            ),
        )


def by_prefix(rules: dict[str, str]) -> Callable[[Fill], str]:
    """Return a script that answers by the end of prefix and given text, else with an empty text."""

    def script(request: Fill) -> str:
        before = (request.prefix + request.given).rstrip()
        return next((text for end, text in rules.items() if before.endswith(end)), "")

    return script
