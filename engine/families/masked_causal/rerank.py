"""Write several answers to one hole and rank them by how likely they make the whole text.

The score of an answer is the log-probability of its tokens and of the first suffix tokens after
it, read as plain text after the prefix: with the suffix in view any answer is followed by it. How
likely the answer is as decoded, between prefix and suffix, counts for a fifth. It knows all of the
suffix, but its end token is too sure, so that alone it prefers answers that end too early.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from intarsia.engine.arrays import chosen, floats, logsumexp
from intarsia.engine.decoding.tokens import HoleTokens, ScoredToken, score_tokens
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.read_request import FillTask
from intarsia.engine.families.masked_causal.writer import Answer, HoleWriter
from intarsia.engine.families.protocol import common_prefix_length

_SURE = math.log(0.6)
"""An answer that is at least this likely is returned alone."""

_MAX_MORE_LINES = 2
_OWN_SHARE = 0.2  # 0.1 to 0.25 chose equally well
_NUM_SCORED = 24  # suffix tokens: more or fewer (8 to 48) chose about as well
_CHARS_SCORED = 240  # more text than these tokens have
_NEWLINE = "\n"
_FIRST_LINE = re.compile(r"\s*\S[^\n]*(?=\n\s*\S)")  # with another one after it


class Reranker:
    """Writes further answers to a hole and ranks them all."""

    def __init__(self, context: OpenContext, text: FimTokenizer, writer: HoleWriter) -> None:
        self._context = context
        self._text = text
        self._writer = writer

    def rank(self, task: FillTask, greedy: HoleTokens) -> tuple[list[Answer], int]:
        """Return up to ``num_candidates`` answers, best first, and all forward passes made.

        The greedy answer is returned alone if it is sure or cut short, or if the deadline comes
        before all answers are scored. Raises Cancelled between two passes.
        """
        first = self._writer.answer(task, greedy)
        if self._is_sure(task, greedy) or greedy.finish_reason in ("deadline", "max_steps"):
            return [first], greedy.num_forwards
        answers, num_forwards = self._add_others(task, first)
        if len(answers) == 1 and not task.control.is_late:
            return answers, num_forwards
        scores = self._scores(task, answers)
        num_forwards += len(scores)
        if task.control.is_late:
            late = replace(greedy, finish_reason="deadline")
            return [replace(first, hole=late)], num_forwards
        order = sorted(range(len(answers)), key=lambda i: -scores[i])  # stable: greedy first
        return [answers[i] for i in order[: task.request.num_candidates]], num_forwards

    def _add_others(self, task: FillTask, first: Answer) -> tuple[list[Answer], int]:
        """Return the first answer with different ones, and the forward passes of all.

        One may be too many: a shorter one takes no other's place until all are scored.
        """
        answers, num_forwards = [first], first.hole.num_forwards
        for hole in self._others(task, first.hole):
            num_forwards += hole.num_forwards
            if task.control.is_late:
                break
            _add_if_new(answers, self._writer.answer(task, hole))
            if len(answers) >= task.request.num_candidates:
                break
        shorter = None if task.control.is_late else self._first_line(task, first)
        if shorter is not None:
            num_forwards += shorter.num_forwards
            _add_if_new(answers, self._writer.answer(task, shorter))
        return answers, num_forwards

    def _scores(self, task: FillTask, answers: list[Answer]) -> list[float]:
        """Return the score of each answer, in one forward pass each, until the deadline."""
        self._reopen(task)  # so that the next request finds the context unchanged
        self._context.prefill(self._text.without_suffix(task.context), task.control)
        scores: list[float] = []
        while len(scores) < len(answers) and not task.control.is_late:
            scores.append(self._score(task, answers[len(scores)]))
        return scores

    def _is_sure(self, task: FillTask, hole: HoleTokens) -> bool:
        """Whether the model is sure of all tokens that it was free to choose."""
        num_given = num_bytes = 0
        while num_bytes < len(task.healed) and num_given < len(hole.ids):
            num_bytes += len(self._text.bytes_of(hole.ids[num_given]))
            num_given += 1
        return _log_probability(hole, num_given) >= _SURE

    def _others(self, task: FillTask, greedy: HoleTokens) -> Iterator[HoleTokens]:
        """Decode other answers: first those that are lines longer, then those that begin otherwise.

        Branching where the model was least sure cost right answers.
        """
        longer = greedy
        for _ in range(_MAX_MORE_LINES):
            first = self._next_line(task, longer)
            if first is None or task.control.is_late:
                break
            longer = self._writer.write_after(task, first)
            yield longer
        for rank in range(1, task.request.num_candidates):
            if task.control.is_late:
                return
            self._reopen(task)
            yield self._writer.write(task, rank=rank)

    def _next_line(self, task: FillTask, hole: HoleTokens) -> list[ScoredToken] | None:
        """Return the tokens of an answer that the model itself ended, and a line end after them."""
        if not hole.ids or hole.ids[-1] not in self._text.end_ids:
            return None
        if _NEWLINE in task.request.stop:
            return None
        before = hole.scored(0, len(hole.ids) - 1)
        self._reopen(task)
        self._context.prefill([*task.context, *(token.id for token in before)], task.control)
        newline = self._text.encode(_NEWLINE)[:1]
        return [*before, *score_tokens(self._context.next_logits()[None], newline)]

    def _first_line(self, task: FillTask, answer: Answer) -> HoleTokens | None:
        """Return the answer as it is if it ends with its first line, None if that is all of it.

        Only a hole that begins within a line is filled so: of whole lines, the first one alone
        won nothing and lost 11 of 73 bodies.
        """
        request = task.request
        begun = (request.prefix + request.given).rpartition(_NEWLINE)[2]
        line = _FIRST_LINE.match(answer.text)
        if line is None or not begun.strip():
            return None
        ids = self._text.encode(task.healed.decode("utf-8", "replace") + line.group().rstrip())
        self._reopen(task)
        logits = self._context.backbone.logits(self._context.hidden_after(ids, task.control))
        end = max(self._text.end_ids, key=lambda token: float(logits[-1, token]))
        tokens = score_tokens(logits, [*ids, end])
        num_shared = common_prefix_length(ids, answer.hole.ids)
        as_given = answer.hole.scored(0, num_shared)  # a half-typed word's count what is typed
        written = HoleTokens().then_committed([*as_given, *tokens[num_shared:]])
        return written.after_forwards(1)

    def _reopen(self, task: FillTask) -> None:
        """Hold only the task's context."""
        task.control.checkpoint()
        self._context.reopen(len(task.context))

    def _score(self, task: FillTask, answer: Answer) -> float:
        """Return how likely an answer and the first suffix tokens after it are, in nats.

        The open context must not show the suffix. A token that covers the end of the answer and
        the start of the suffix counts as the suffix's.
        """
        before = task.healed.decode("utf-8", "replace") + answer.text
        own = self._text.encode(before)
        ids = self._text.encode(before + task.request.suffix[:_CHARS_SCORED])
        ids = ids[: len(own) + _NUM_SCORED]
        decoded = _OWN_SHARE * _log_probability(answer.hole)
        if not ids:
            return decoded
        rows = self._context.hidden_after(ids[:-1], task.control)
        logits = floats(self._context.backbone.logits(rows))
        log_p = chosen(logits, ids) - logsumexp(logits)
        num_own = common_prefix_length(own, ids)
        plain, after = float(log_p[:num_own].sum()), float(log_p[num_own:].sum())
        return decoded + (1 - _OWN_SHARE) * plain + after


def _add_if_new(answers: list[Answer], answer: Answer) -> None:
    if answer.text.rstrip() not in [other.text.rstrip() for other in answers]:
        answers.append(answer)


def _log_probability(hole: HoleTokens, start: int = 0) -> float:
    """Return the log-probability of the tokens from ``start`` on, the end token included."""
    return sum(math.log(max(confidence, 1e-30)) for confidence in hole.confidences[start:])
