"""What a masked run of a draft becomes: the run that is likeliest between both of its sides.

The backbone's likeliest beginnings, each continued greedily, compete with the draft's own tokens;
each is judged together with a few tokens behind it. Ids and logits come in, named tokens go out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from intarsia.engine.decoding.tokens import ScoredToken, score_tokens
from intarsia.engine.diffusion.noising import gumbel

Branch: TypeAlias = Callable[[Sequence[Sequence[int]]], list[Tensor]]
"""Continuations of what is held → logits (tokens, vocab) after each token of each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gap:
    """A masked run, and what stands behind it."""

    own: list[int]  # the draft's tokens
    ahead: list[int]
    is_last: bool  # behind ``ahead`` the hole ends


@dataclass(frozen=True, kw_only=True, slots=True)
class RunChoice:
    """``margin`` (nats): so much likelier than the draft's own tokens must others be.

    ``temperature`` above 0 draws a run by its likelihood. One pass for each token of a run.
    """

    end_ids: list[int]
    behind: list[int]  # the first tokens behind the hole
    num_beginnings: int
    margin: float
    temperature: float
    generator: torch.Generator  # on the CPU

    def choose(self, gap: Gap, here: Tensor, branch: Branch) -> list[ScoredToken]:
        """Return a run as long as the draft's (here: logits (vocab,) of its first token)."""
        written = self._write_on(len(gap.own), here, branch)
        runs = [gap.own, *(run for run in written if run != gap.own)]
        tail = [*gap.ahead, *(self.behind if gap.is_last else ())]
        judged = [
            torch.cat([here[None], logits]) for logits in branch([[*run, *tail] for run in runs])
        ]
        scores = torch.tensor(
            [self._score(run, gap, said) for run, said in zip(runs, judged, strict=True)]
        )
        scores[0] += self.margin
        best = int((scores + self.temperature * gumbel(len(runs), self.generator)).argmax())
        return score_tokens(judged[best][: len(gap.own)], runs[best])

    def _write_on(self, length: int, here: Tensor, branch: Branch) -> list[list[int]]:
        """Return the likeliest beginnings, each continued greedily."""
        beginnings = self._without_ends(here).topk(self.num_beginnings).indices
        runs = [[token] for token in beginnings.tolist()]
        for _ in range(length - 1):
            for run, logits in zip(runs, branch(runs), strict=True):
                run.append(int(self._without_ends(logits[-1]).argmax()))
        return runs

    def _without_ends(self, logits: Tensor) -> Tensor:
        """The draft's length is the hole's: no run ends it early."""
        logits = logits.clone()
        logits[self.end_ids] = -torch.inf
        return logits

    def _score(self, run: list[int], gap: Gap, judged: Tensor) -> float:
        """Return the log-probability of a run and what stands ahead; at the hole's end also that
        it ends there: by an end token, or by running on into the text behind."""
        log_p = torch.log_softmax(judged.float(), dim=-1)
        tokens = [*run, *gap.ahead]
        score = _log_probability(log_p, tokens)
        if not gap.is_last:
            return score
        log_end = torch.logsumexp(log_p[len(tokens), self.end_ids], dim=0).cpu()
        if not self.behind:
            return score + float(log_end)
        running_on = torch.tensor(_log_probability(log_p[len(tokens) :], self.behind))
        return score + float(torch.logaddexp(log_end, running_on))


def _log_probability(log_p: Tensor, tokens: Sequence[int]) -> float:
    return float(log_p[torch.arange(len(tokens)), list(tokens)].sum())
