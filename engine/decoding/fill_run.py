"""Rewrite one masked run of a draft: take the run that is likeliest between both of its sides.

The backbone's likeliest first tokens, each continued greedily, compete with the draft's own run.
Each candidate is scored together with a few tokens after it. Works on ids and logits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from intarsia.engine.decoding.tokens import ScoredToken, score_tokens
from intarsia.engine.diffusion.renewal import gumbel

Branch: TypeAlias = Callable[[Sequence[Sequence[int]]], list[Tensor]]
"""Continuations of the held tokens → logits (tokens, vocab) after each token of each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MaskedRun:
    """A masked run of a draft, and the draft's tokens after it."""

    own_ids: list[int]
    ids_after: list[int]
    is_last: bool  # the hole ends after ``ids_after``


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFiller:
    """Fills one masked run, in one forward pass for each of its tokens.

    Another run replaces the draft's own if it is likelier by more than ``margin`` (nats). Above
    ``temperature`` 0, a run is sampled by its likelihood.
    """

    end_ids: list[int]
    suffix_ids: list[int]  # the first tokens after the hole
    num_beginnings: int
    margin: float
    temperature: float
    generator: torch.Generator  # on the CPU

    def fill(self, run: MaskedRun, logits: Tensor, branch: Branch) -> list[ScoredToken]:
        """Return as many tokens as the run has; ``logits`` (vocab,) predict the first one."""
        written = self._continue_beginnings(len(run.own_ids), logits, branch)
        candidates = [run.own_ids, *(ids for ids in written if ids != run.own_ids)]
        tail = [*run.ids_after, *(self.suffix_ids if run.is_last else ())]
        rows = [
            torch.cat([logits[None], after])
            for after in branch([[*ids, *tail] for ids in candidates])
        ]
        scores = torch.tensor(
            [self._score(ids, run, row) for ids, row in zip(candidates, rows, strict=True)]
        )
        scores[0] += self.margin
        noise = self.temperature * gumbel(len(candidates), self.generator)
        best = int((scores + noise).argmax())
        return score_tokens(rows[best][: len(run.own_ids)], candidates[best])

    def _continue_beginnings(self, length: int, logits: Tensor, branch: Branch) -> list[list[int]]:
        """Return the likeliest first tokens, each continued greedily to ``length``."""
        beginnings = self._without_ends(logits).topk(self.num_beginnings).indices
        runs = [[token] for token in beginnings.tolist()]
        for _ in range(length - 1):
            for ids, after in zip(runs, branch(runs), strict=True):
                ids.append(int(self._without_ends(after[-1]).argmax()))
        return runs

    def _without_ends(self, logits: Tensor) -> Tensor:
        """Exclude end tokens: a rewritten draft keeps its number of tokens."""
        logits = logits.clone()
        logits[self.end_ids] = -torch.inf
        return logits

    def _score(self, ids: list[int], run: MaskedRun, logits: Tensor) -> float:
        """Return the log-probability of a candidate and the tokens after it.

        At the end of the hole this includes that the hole ends there: by an end token, or by
        running on into the suffix.
        """
        log_p = torch.log_softmax(logits.float(), dim=-1)
        tokens = [*ids, *run.ids_after]
        score = _log_probability(log_p, tokens)
        if not run.is_last:
            return score
        log_end = torch.logsumexp(log_p[len(tokens), self.end_ids], dim=0).cpu()
        if not self.suffix_ids:
            return score + float(log_end)
        running_on = torch.tensor(_log_probability(log_p[len(tokens) :], self.suffix_ids))
        return score + float(torch.logaddexp(log_end, running_on))


def _log_probability(log_p: Tensor, tokens: Sequence[int]) -> float:
    return float(log_p[torch.arange(len(tokens)), list(tokens)].sum())
