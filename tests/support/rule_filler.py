"""A Filler without weights: a rule writes the hole's text, and it settles step by step.

For tests of the logic around the model: steps, cancel, deadlines, drafts and limits are real.
"""

import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from intarsia.engine.errors import Cancelled
from intarsia.engine.filler import ModelInfo
from intarsia.engine.ipc.messages import (
    CanvasToken,
    Fill,
    Filled,
    FinishReason,
    Prefetch,
    Step,
    Timing,
)

_TOKEN = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")


class RuleFiller:
    """Settles one token a step, left to right; ``rules`` sees the whole request.

    ``step_seconds``: how long a step takes. ``num_steps``: so many steps instead of one a token.
    ``between_steps`` is called with the step's number just before the cancel flag is read.
    ``unsure``: words that it settles with a confidence of 0.25; all others with 1. Of a draft, the
    share ``noise`` of the words comes back in capitals, beginning with word number ``seed``.
    ``prepare`` is what it does in idle time.
    """

    def __init__(
        self,
        rules: Callable[[Fill], str],
        step_seconds: float = 0,
        *,
        num_steps: int | None = None,
        between_steps: Callable[[int], None] | None = None,
        unsure: Collection[str] = (),
        name: str = "rules",
        prepare: Callable[[Callable[[], bool]], None] = lambda is_cancelled: None,
        prefetch: Callable[[Prefetch, Callable[[], bool]], None] = lambda *_: None,
    ) -> None:
        self.info = ModelInfo(
            name=name, family="rules", device="cpu", dtype="none", notes=("rules, no weights",)
        )
        self._rules = rules
        self._step_seconds = step_seconds
        self._num_steps = num_steps
        self._between_steps = between_steps
        self._unsure = unsure
        self._prepare = prepare
        self._read_ahead = prefetch
        self._last_prefix = ""

    def fill(
        self,
        request: Fill,
        *,
        received_at: float,
        is_cancelled: Callable[[], bool],
        on_step: Callable[[Step], None] | None,
    ) -> Filled:
        _check(request)
        started_at = time.monotonic()
        num_reused = _common_length(self._last_prefix, request.prefix)
        self._last_prefix = request.prefix
        tokens, reason = _limit(_cut_at_stop(self._write(request), request.stop), request)
        budget = len(tokens) if self._num_steps is None else self._num_steps
        step = 0
        while step < budget:
            if early_end := _early_end(request, received_at, step):
                reason = early_end
                tokens = tokens[: _num_settled(tokens, step, budget)]
                break
            step += 1
            self._pass(step)
            if is_cancelled():
                raise Cancelled
            if on_step is not None:
                on_step(Step(id=request.id, step=step, tokens=_canvas(tokens, step, budget)))
        now = time.monotonic()
        return Filled(
            id=request.id,
            text="".join(tokens),
            tokens=tuple(CanvasToken(text, self._confidence(text), True) for text in tokens),
            num_forwards=step,
            ms=Timing(
                queue=1000 * (started_at - received_at),
                prefill=0.0,
                denoise=1000 * (now - started_at),
                total=1000 * (now - received_at),
            ),
            mean_entropy=0.0,
            finish_reason=reason,
            model=self.info.name,
            num_prefilled=len(request.prefix) - num_reused,
            num_reused=num_reused,
        )

    def _write(self, request: Fill) -> str:
        text = self._rules(request)
        return _rewritten(request.draft, request.noise, request.seed) if request.draft else text

    def _pass(self, step: int) -> None:
        time.sleep(self._step_seconds)
        if self._between_steps is not None:
            self._between_steps(step)

    def _confidence(self, token: str) -> float:
        return 0.25 if token.strip() in self._unsure else 1.0

    @contextmanager
    def suspended(self) -> Iterator[None]:
        mine = self._last_prefix
        yield
        self._last_prefix = mine

    def cached_tokens(self) -> int:
        return len(self._last_prefix)

    def prepare(self, is_cancelled: Callable[[], bool]) -> None:
        self._prepare(is_cancelled)

    def prefetch(self, place: Prefetch, is_cancelled: Callable[[], bool]) -> None:
        self._read_ahead(place, is_cancelled)
        self._last_prefix = place.prefix


def _check(request: Fill) -> None:
    if request.max_tokens < 1:
        raise ValueError(f"max_tokens must be 1 or more, got {request.max_tokens}")


def _rewritten(draft: str, noise: float, seed: int) -> str:
    words = list(re.finditer(r"\w+", draft))
    masked = {(seed + at) % len(words) for at in range(round(noise * len(words)))} if words else ()
    for at in sorted(masked, reverse=True):
        start, end = words[at].span()
        draft = draft[:start] + draft[start:end].upper() + draft[end:]
    return draft


def _cut_at_stop(text: str, stop: Sequence[str]) -> str:
    ends = [text.find(mark) for mark in stop if mark in text]
    return text[: min(ends)] if ends else text


def _limit(text: str, request: Fill) -> tuple[list[str], FinishReason]:
    tokens = _TOKEN.findall(text)
    reason: FinishReason = "end_of_hole" if len(tokens) <= request.max_tokens else "max_tokens"
    return tokens[: request.max_tokens], reason


def _early_end(request: Fill, received_at: float, num_steps: int) -> FinishReason | None:
    if request.max_steps is not None and num_steps >= request.max_steps:
        return "max_steps"
    waited_ms = 1000 * (time.monotonic() - received_at)
    if request.deadline_ms is not None and waited_ms > request.deadline_ms:
        return "deadline"
    return None


def _common_length(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _num_settled(tokens: Sequence[str], step: int, budget: int) -> int:
    return len(tokens) * step // max(budget, 1)


def _canvas(tokens: Sequence[str], step: int, budget: int) -> tuple[CanvasToken, ...]:
    num_committed = _num_settled(tokens, step, budget)
    return tuple(
        CanvasToken(text, 1.0 if index < num_committed else 0.5, index < num_committed)
        for index, text in enumerate(tokens)
    )
