"""A Filler without weights: a rule writes the hole's text, which settles step by step.

For tests of the logic around the model: steps, cancel, deadlines, drafts and limits are real.
"""

import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from copy import copy

from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import ModelInfo
from intarsia.engine.ipc.messages import (
    CanvasToken,
    Fill,
    Filled,
    FindNextEdits,
    FinishReason,
    NextEdits,
    Prefetch,
    ScoreTexts,
    Step,
    TextScores,
    Timing,
)

CAUTION = "rules follow no instruction"
_TOKEN = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")


class RuleFiller:
    """Settles one token a step, left to right; ``rules`` sees the whole request.

    ``step_seconds``: how long a step takes. ``num_steps``: the number of steps, instead of one a
    token. ``between_steps`` is called with the step's number just before the checkpoint.
    ``unsure``: words with a confidence of 0.3; all others have 1. Of a draft, the share ``noise``
    of the words is returned in capitals, beginning with word number ``seed``. ``prepare``,
    ``prefetch`` and ``rest`` are its work in idle time, ``find`` finds next edits. A text gains
    ten nats for each of the ``likely`` ones in it; None: this model cannot score.
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
        prepare: Callable[[FillControl], None] = lambda control: None,
        prefetch: Callable[[Prefetch, FillControl], None] = lambda *_: None,
        tokens_per_s: float | None = None,
        rest: Callable[[], None] = lambda: None,
        find: Callable[[FindNextEdits, FillControl], NextEdits] | None = None,
        likely: Sequence[str] | None = None,
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
        self._prefetch = prefetch
        self._tokens_per_s = tokens_per_s
        self.rest = rest
        self._find = find
        self._likely = likely
        self._last_prefix = ""
        self.is_behind = False

    def fill(self, request: Fill, control: FillControl) -> Filled:
        if request.max_tokens < 1:
            raise ValueError(f"max_tokens must be 1 or more, got {request.max_tokens}")
        started_at = time.monotonic()
        num_reused = _common_length(self._last_prefix, request.prefix)
        self._last_prefix = request.prefix
        tokens, reason = _limit(_cut_at_stop(self._write(request), request.stop), request)
        budget = len(tokens) if self._num_steps is None else self._num_steps
        step = 0
        while step < budget:
            if early_end := _early_end(request, control, step):
                reason = early_end
                tokens = tokens[: _num_settled(tokens, step, budget)]
                break
            step += 1
            self._pass(step)
            control.checkpoint()
            if control.on_step is not None:
                control.on_step(
                    Step(id=request.id, step=step, tokens=self._canvas(tokens, step, budget))
                )
        now = time.monotonic()
        return Filled(
            id=request.id,
            text="".join(tokens),
            tokens=tuple(CanvasToken(text, self._confidence(text), True) for text in tokens),
            num_forwards=step,
            ms=Timing(
                queue=1000 * (started_at - control.received_at),
                prefill=0.0,
                denoise=1000 * (now - started_at),
                total=1000 * (now - control.received_at),
            ),
            mean_entropy=0.0,
            finish_reason=reason,
            model=self.info.name,
            num_prefilled=len(request.prefix) - num_reused,
            num_reused=num_reused,
            num_project=len(project_text(request)),
            caution=CAUTION if request.chat is not None else "",
        )

    def _write(self, request: Fill) -> str:
        text = self._rules(request)
        if request.draft and request.chat is None:
            return _rewritten(request.draft, request.noise, request.seed)
        return text

    def _pass(self, step: int) -> None:
        time.sleep(self._step_seconds)
        if self._between_steps is not None:
            self._between_steps(step)

    def _confidence(self, token: str) -> float:
        return 0.3 if token.strip() in self._unsure else 1.0

    def _canvas(self, tokens: Sequence[str], step: int, budget: int) -> tuple[CanvasToken, ...]:
        num_settled = _num_settled(tokens, step, budget)
        return tuple(
            CanvasToken(text, self._confidence(text), True)
            if index < num_settled
            else CanvasToken(text, 0.5, False)
            for index, text in enumerate(tokens)
        )

    @contextmanager
    def suspended(self) -> Iterator[None]:
        mine = self._last_prefix
        yield
        self._last_prefix = mine

    def cached_tokens(self) -> int:
        return len(self._last_prefix)

    def for_another_owner(self, *, cache_tokens: int) -> "RuleFiller":
        other = copy(self)
        other._last_prefix = ""
        return other

    def prepare(self, control: FillControl) -> None:
        self._prepare(control)

    def prefetch(self, place: Prefetch, control: FillControl) -> None:
        self._prefetch(place, control)
        self._last_prefix = place.prefix

    def find_next_edits(self, request: FindNextEdits, control: FillControl) -> NextEdits:
        if self._find is None:
            raise ValueError("this model cannot find next edits")
        return self._find(request, control)

    def score_texts(self, request: ScoreTexts, control: FillControl) -> TextScores:
        control.checkpoint()
        if self._likely is None:
            raise ValueError("this model cannot score texts")
        likely = self._likely

        def num_likely(text: str) -> int:
            whole = request.prefix + text + request.suffix
            return sum(it in whole for it in likely)

        present = num_likely(request.present)
        gains = tuple(10.0 * (num_likely(text) - present) for text in request.texts)
        return TextScores(id=request.id, gains=gains, ms=0.0)

    def prefill_tokens_per_s(self) -> float | None:
        return self._tokens_per_s


def project_text(request: Fill) -> str:
    """Return the code of other files that a fill is written with: none if it must be cached."""
    if request.project is None or request.project_use != "always":
        return ""
    return "".join(chunk.text for chunk in request.project.chunks)


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


def _early_end(request: Fill, control: FillControl, num_steps: int) -> FinishReason | None:
    if request.max_steps is not None and num_steps >= request.max_steps:
        return "max_steps"
    return "deadline" if control.is_late else None


def _common_length(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _num_settled(tokens: Sequence[str], step: int, budget: int) -> int:
    return len(tokens) * step // max(budget, 1)
