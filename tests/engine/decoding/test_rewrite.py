"""The rewriting loop on a backbone of rules: a table gives the next token, without weights."""

import time
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from cancel_when import cancelling
from torch import Tensor

from intarsia.engine.decoding.rewrite import RewritePolicy, RewriteRequest, least_sure, rewrite
from intarsia.engine.decoding.tokens import HoleTokens
from intarsia.engine.diffusion.noise import num_noised
from intarsia.engine.diffusion.renewal import any_of
from intarsia.engine.errors import Cancelled
from intarsia.engine.fill_control import NO_CONTROL, FillControl

VOCAB, END = 16, 15
BEGIN = 0  # the token before the hole
CHAIN = {BEGIN: 1, 1: 2, 2: 3, 3: 4, 4: 5, 5: 6, 6: END}  # token → next token, surely
RIGHT = [1, 2, 3, 4, 5, 6]


class RuleVerifier:
    """Predicts from a table, without weights."""

    def __init__(self, chain, *, sureness=8.0, others=None) -> None:
        self._chain = chain
        self._sureness = sureness
        self._others = others or {}  # token → logits of tokens after it
        self._last: list[int] = []
        self.held: list[int] = []
        self.widest_pass = 0

    def next_logits(self) -> Tensor:
        return self._after(self.held[-1] if self.held else BEGIN)

    def verify(self, tokens: Sequence[int]) -> Tensor:
        self._last = list(tokens)
        self.widest_pass = max(self.widest_pass, len(tokens))
        return torch.stack([self._after(t) for t in tokens])

    def keep(self, num_tokens: int) -> None:
        self.held += self._last[:num_tokens]

    def rewind(self) -> None:
        self.held = []

    def branch(self, branches: Sequence[Sequence[int]]) -> list[Tensor]:
        return [torch.stack([self._after(t) for t in branch]) for branch in branches]

    def _after(self, token: int) -> Tensor:
        logits = torch.zeros(VOCAB)
        if token in self._chain:
            logits[self._chain[token]] = self._sureness
        for other, logit in self._others.get(token, {}).items():
            logits[other] = logit
        return logits


def run(
    draft,
    *,
    verifier=None,
    seed=0,
    suffix=(),
    max_forwards=None,
    control=NO_CONTROL,
    on_round=None,
    **policy,
):
    return rewrite(
        verifier or RuleVerifier(CHAIN),
        RewriteRequest(
            draft_ids=draft, suffix_ids=suffix, end_ids=frozenset({END}), max_forwards=max_forwards
        ),
        RewritePolicy(**({"noise": 0.2} | policy)),
        generator=np.random.default_rng(seed),
        control=control,
        on_round=on_round,
    )


@pytest.mark.parametrize("noise", [0.1, 0.3, 0.5, 0.99])
def test_a_right_draft_comes_back(noise: float) -> None:
    rewritten = run(RIGHT, noise=noise)
    assert rewritten.ids == RIGHT
    assert rewritten.finish_reason == "end"
    assert rewritten.num_committed == len(RIGHT)
    assert all(confidence > 0.9 for confidence in rewritten.confidences)


@pytest.mark.parametrize("position", range(6))
def test_one_wrong_token_is_found_and_made_right(position: int) -> None:
    draft = list(RIGHT)
    draft[position] = 9
    # what follows a wrong token is as unsure as the token itself: masked together
    assert run(draft, noise=0.34).ids == RIGHT


def test_a_kept_token_that_a_change_made_unlikely_is_revised_too() -> None:
    """10 follows 9 surely, so it is kept at first; after 3 it is unlikely."""
    verifier = RuleVerifier(CHAIN | {9: 10}, sureness=6.0, others={2: {3: 18.0}})
    shown: list[HoleTokens] = []
    rewritten = run([1, 2, 9, 10, 5, 6], verifier=verifier, noise=0.17, on_round=shown.append)
    assert rewritten.ids == RIGHT
    assert [1, 2, 3, 10, 5, 6] in [text.ids for text in shown], "one after the other"


def test_tokens_after_a_run_decide_too() -> None:
    """Alone, 2 and 7 are equally likely after 1; only 7 leads to the 8 that is kept."""
    torn = RuleVerifier({BEGIN: 1, 7: 8, 8: END}, others={1: {2: 5.0, 7: 4.9}})
    assert run([1, 9, 8], verifier=torn, noise=0.3, margin=0.0).ids == [1, 7, 8]


def test_what_is_not_much_likelier_than_the_draft_stays_out() -> None:
    def second(margin: float) -> int:
        torn = RuleVerifier({BEGIN: 1, 2: 11, 9: 11, 11: END}, others={1: {2: 5.0, 9: 4.5}})
        return run([1, 9, 11], verifier=torn, noise=0.3, margin=margin).ids[1]

    assert (second(0.0), second(1.0)) == (2, 9)


def test_at_the_end_of_the_hole_the_suffix_counts() -> None:
    """All tokens are equally likely, but only 4 runs on into the suffix."""
    verifier = RuleVerifier({4: 5, 5: 6})
    assert run([9], verifier=verifier, suffix=[5, 6], num_beginnings=15).ids == [4]


def test_a_long_draft_is_scored_in_pieces() -> None:
    verifier = RuleVerifier({i: (i + 1) % 10 for i in range(10)})
    draft = [(i + 1) % 10 for i in range(300)]
    assert run(draft, verifier=verifier, noise=0.01).ids == draft
    assert verifier.widest_pass <= 64 + RewritePolicy(noise=1).max_run


def test_seed_zero_is_certain_and_others_draw() -> None:
    draft = [1, 9, 9, 9, 9, 9, 9, 9]

    def drawn(seed: int, temperature: float) -> tuple[int, ...]:
        verifier = RuleVerifier(CHAIN, sureness=1.0)
        return tuple(
            run(draft, verifier=verifier, noise=0.5, seed=seed, temperature=temperature).ids
        )

    assert drawn(0, 0.0) == drawn(5, 0.0), "without temperature"
    assert drawn(1, 1.0) == drawn(1, 1.0)
    assert len({drawn(seed, 1.0) for seed in range(1, 5)}) > 1


@pytest.mark.parametrize("max_forwards", [1, 2, 3])
def test_the_draft_is_a_whole_answer_after_every_pass(max_forwards: int) -> None:
    draft = [1, 9, 3, 9, 5, 9]
    rewritten = run(draft, noise=0.9, max_forwards=max_forwards, max_run=1)
    assert rewritten.num_forwards == max_forwards
    assert rewritten.finish_reason == "max_steps"
    assert len(rewritten.ids) == len(draft)
    assert rewritten.ids[rewritten.num_committed :] == draft[rewritten.num_committed :]


def test_a_deadline_leaves_the_rest_as_it_was() -> None:
    rewritten = run(RIGHT, control=FillControl(deadline=time.monotonic() - 1))
    assert (rewritten.finish_reason, rewritten.num_forwards, rewritten.ids) == (
        "deadline",
        1,
        RIGHT,
    )


def test_a_cancel_counts_between_any_two_passes() -> None:
    whole = run([1, 9, 3, 9, 5, 9], noise=0.9).num_forwards
    for num in range(whole):
        asked = iter(range(whole + 1))
        with pytest.raises(Cancelled):
            run([1, 9, 3, 9, 5, 9], noise=0.9, control=cancelling(lambda: next(asked) == num))  # noqa: B023


def test_committed_tokens_are_shown_from_left_to_right() -> None:
    shown: list[HoleTokens] = []
    rewritten = run([1, 9, 3, 9, 5, 6], noise=0.6, on_round=shown.append)
    assert [text.num_committed for text in shown] == sorted(text.num_committed for text in shown)
    assert len(shown) > 2
    assert (shown[0].num_committed, shown[-1]) == (0, rewritten)


def test_the_verifier_holds_just_the_committed_tokens() -> None:
    verifier = RuleVerifier(CHAIN)
    rewritten = run([1, 9, 3, 4, 5, 6], verifier=verifier, noise=0.34)
    assert rewritten.ids[: len(verifier.held)] == verifier.held


@pytest.mark.parametrize(("noise", "count"), [(0.001, 1), (0.25, 2), (0.5, 5), (1.0, 10)])
def test_noise_is_a_share_and_at_least_one_token(noise: float, count: int) -> None:
    generator = torch.Generator().manual_seed(0)
    assert num_noised(10, noise) == count
    assert len(any_of(10, noise, generator)) == count
    unsure = np.arange(-9.0, 1.0)  # the first is the least sure
    dice = np.random.default_rng(0)
    chosen = least_sure(unsure, noise, temperature=0.0, generator=dice)
    assert chosen == set(range(count))


def test_nothing_to_noise_is_no_fault() -> None:
    assert any_of(0, 0.5, torch.Generator()) == set()
