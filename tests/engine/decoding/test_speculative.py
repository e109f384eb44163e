"""Speculative decoding on a backbone of rules: any text, any proposals, any budget."""

import time
from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any

import pytest
import torch
from cancel_when import cancelling
from hypothesis import given
from hypothesis import strategies as st

from intarsia.engine.decoding.speculation_policy import (
    DraftSources,
    PromptLookup,
    SpeculationPolicy,
    share_masks,
)
from intarsia.engine.decoding.speculative import Verification, decode_speculatively
from intarsia.engine.decoding.tokens import EndRule, HoleRequest, HoleTokens, ScoredToken
from intarsia.engine.errors import Cancelled
from intarsia.engine.fill_control import NO_CONTROL, FillControl

_VOCAB = 7
_END = 0


class RuleVerifier:
    """Its text is a fixed row of tokens; its proposals are right as often as the draws say."""

    def __init__(self, truth: Sequence[int], is_right: Sequence[bool]) -> None:
        self.truth = list(truth)
        self.num_held = 0
        self.most_rows = 0
        self.num_forwards = 0
        self._is_right = list(is_right)
        self._last: list[int] = []
        self._drawn = count()

    def verify(self, tokens: Sequence[int], masks: Sequence[int]) -> Verification:
        assert len(masks) == len(tokens)
        assert tokens[0] == self.truth[self.num_held], "the first row is the last committed token"
        self.num_forwards += 1
        self.most_rows = max(self.most_rows, len(tokens) + sum(masks))
        self._last = list(tokens)
        places = [self.num_held + 1 + j for j in range(len(tokens))]
        return Verification(
            causal=torch.stack([self._says(place) for place in places]),
            proposals=tuple(
                self._propose(place + 1, num) for place, num in zip(places, masks, strict=True)
            ),
        )

    def keep(self, num_tokens: int) -> None:
        kept = self._last[:num_tokens]
        assert kept == [*self.truth, _END][self.num_held : self.num_held + num_tokens]
        self.num_held += num_tokens

    def _says(self, place: int) -> torch.Tensor:
        token = self.truth[place] if place < len(self.truth) else _END
        return torch.nn.functional.one_hot(torch.tensor(token), _VOCAB) * 5.0

    def _propose(self, place: int, num: int) -> torch.Tensor:
        rows = []
        for i in range(num):
            logits = self._says(place + i)
            is_right = self._is_right[next(self._drawn) % len(self._is_right)]
            rows.append(logits if is_right else logits.roll(1))
        return torch.stack(rows) if rows else torch.empty(0, _VOCAB)


def num_until_end(ids: Sequence[int]) -> int | None:
    return next((i + 1 for i, token in enumerate(ids) if token == _END), None)


def decode(
    verifier: RuleVerifier,
    policy: SpeculationPolicy,
    *,
    control: FillControl = NO_CONTROL,
    **limits: Any,
) -> tuple[HoleTokens, list[HoleTokens]]:
    shown: list[HoleTokens] = []
    first = ScoredToken(id=verifier.truth[0], confidence=0.9, entropy=0.1)
    options: dict[str, Any] = {"max_tokens": 100} | limits
    hole = decode_speculatively(
        verifier,
        HoleRequest(first=[first], num_until_end=num_until_end, **options),
        policy,
        sources=DraftSources(context=[5, 6]),
        control=control,
        on_round=shown.append,
    )
    return hole, shown


_truths = st.lists(st.integers(1, _VOCAB - 1), min_size=1, max_size=25)
_draws = st.lists(st.booleans(), min_size=1, max_size=30)
_policies = st.builds(
    SpeculationPolicy,
    num_proposed=st.integers(0, 8),
    num_rows=st.integers(1, 20),
    min_chance=st.sampled_from([0.0, 0.1, 0.5]),
)


@given(_truths, _draws, _policies)
def test_the_text_is_the_models_own(
    truth: list[int], is_right: list[bool], policy: SpeculationPolicy
) -> None:
    verifier = RuleVerifier(truth, is_right)
    hole, _ = decode(verifier, policy)
    assert hole.ids == [*truth, _END]
    assert hole.num_committed == len(hole.confidences) == len(hole.entropies)
    assert hole.num_forwards == verifier.num_forwards <= len(truth)
    assert verifier.most_rows <= max(policy.num_rows, 1)
    assert hole.finish_reason == "end"


@given(_truths, _draws, _policies, st.integers(1, 25))
def test_no_more_tokens_than_asked_for(
    truth: list[int], is_right: list[bool], policy: SpeculationPolicy, max_tokens: int
) -> None:
    hole, shown = decode(RuleVerifier(truth, is_right), policy, max_tokens=max_tokens)
    assert hole.ids == [*truth, _END][:max_tokens]
    assert all(len(text.ids) <= max_tokens for text in shown)
    assert shown[-1].ids[: len(hole.ids)] == hole.ids
    is_whole = len(truth) < max_tokens
    assert hole.finish_reason == ("end" if is_whole else "max_tokens")


@given(_truths, _draws, _policies, st.integers(1, 6))
def test_too_few_passes_return_the_proposal_too(
    truth: list[int], is_right: list[bool], policy: SpeculationPolicy, max_forwards: int
) -> None:
    hole, _ = decode(RuleVerifier(truth, is_right), policy, max_forwards=max_forwards)
    assert hole.num_forwards <= max_forwards
    own = hole.ids[: hole.num_committed]
    assert own == [*truth, _END][: len(own)]
    if hole.finish_reason == "end":
        assert own == hole.ids == [*truth, _END]
    else:
        assert hole.finish_reason == "max_steps"
        assert hole.num_forwards == max_forwards
        assert len(own) > max_forwards


def test_good_proposals_save_passes() -> None:
    verifier = RuleVerifier([1, 2, 3, 4, 5, 6] * 3, [True])
    hole, _ = decode(verifier, SpeculationPolicy(min_chance=0))
    assert hole.num_forwards <= 6


def test_a_deadline_in_the_past_still_makes_one_pass() -> None:
    hole, _ = decode(
        RuleVerifier([1, 2, 3, 4, 5, 6], [True]),
        SpeculationPolicy(min_chance=0),
        control=FillControl(deadline=time.monotonic() - 1),
    )
    assert hole.finish_reason == "deadline"
    assert hole.num_forwards == 1
    assert hole.num_committed < len(hole.ids), "the proposal belongs to the answer"


def test_a_cancel_counts_between_two_passes() -> None:
    verifier = RuleVerifier([1, 2, 3, 4], [False])
    with pytest.raises(Cancelled):
        decode(
            verifier, SpeculationPolicy(), control=cancelling(lambda: verifier.num_forwards == 2)
        )
    assert verifier.num_forwards == 2


@pytest.mark.parametrize(
    "fields",
    [{"num_proposed": -1}, {"num_rows": 0}, {"min_chance": 1.0}, {"min_chance": -0.1}],
)
def test_a_policy_out_of_range_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="out of range"):
        SpeculationPolicy(**fields)  # type: ignore[arg-type]


class HastyVerifier(RuleVerifier):
    """Would end after every token of the truth; predicts the next one where it may not."""

    def _says(self, place: int) -> torch.Tensor:
        return super()._says(place) + torch.nn.functional.one_hot(torch.tensor(_END), _VOCAB) * 6.0


@given(_truths, _draws, _policies)
def test_a_hole_does_not_end_before_it_may(truth, draws, policy):
    end_rule = EndRule(ids=frozenset({_END}), may_follow=lambda ids: len(ids) >= len(truth))
    text, _ = decode(HastyVerifier(truth, draws), policy, end_rule=end_rule)
    assert (text.ids, text.finish_reason) == ([*truth, _END], "end")
    hasty, _ = decode(HastyVerifier(truth, draws), policy)
    assert hasty.ids == [truth[0], _END]


_ids = st.lists(st.integers(0, 3) | st.sampled_from([256, 65_536, 16_777_216]), max_size=30)


_ANSWERS = [[1, 2, 3, 4], [1, 2, 5], [2, 9]]


@pytest.mark.parametrize(
    ("context", "written", "first", "found"),
    [
        ([1, 2, 7, 8, 1], [2], None, [5]),  # the newest that fits goes first
        ([1, 2, 7, 8, 1], [2], 3, [3, 4]),
        ([1, 2, 7, 8, 1], [2], 7, [7, 8, 1]),
        ([4, 5], [], None, []),  # no answer continues another
    ],
)
def test_an_answer_from_before_goes_before_the_context(
    context: list[int], written: list[int], first: int | None, found: list[int]
) -> None:
    assert PromptLookup(context, _ANSWERS).continue_from(written, 3, first) == found


@given(_ids, st.integers(1, 6), st.none() | st.integers(0, 3), st.integers(0, 30))
def test_what_is_found_did_follow_the_key(
    ids: list[int], num: int, first: int | None, at: int
) -> None:
    found = PromptLookup(ids[:at]).continue_from(ids[at:], num, first)
    key, places = ids[-2:], range(len(ids) - 2)
    followed = [ids[i + 2 : i + 2 + num] for i in places if ids[i : i + 2] == key]
    followed = [run for run in followed if first is None or run[0] == first]
    assert found == (followed[-1] if followed else [])


_confidences = st.lists(st.floats(0, 1), max_size=20)


@pytest.mark.parametrize(
    ("confidences", "num_rows", "masks"),
    [
        ([], 16, [4]),  # all behind the anchor
        ([], 4, [3]),
        ([1.0, 1.0], 7, [0, 0, 4]),  # a sure proposal has them behind its end
        ([0.0, 1.0], 7, [4, 0, 0]),
        ([0.5], 8, [3, 3]),  # doubt shares them out
        ([0.9, 0.9, 0.9], 2, [0, 0, 0, 0]),
    ],
)
def test_masks_stand_where_the_text_is_likely_to_go_on(
    confidences: list[float], num_rows: int, masks: list[int]
) -> None:
    assert share_masks(confidences, num_rows=num_rows, max_masks=4) == masks


@given(_confidences, st.integers(1, 40), st.integers(1, 8))
def test_never_more_rows_than_the_budget(
    confidences: list[float], num_rows: int, max_masks: int
) -> None:
    masks = share_masks(confidences, num_rows=num_rows, max_masks=max_masks)
    num_outcomes = len(confidences) + 1
    assert len(masks) == num_outcomes
    assert all(0 <= count <= max_masks for count in masks)
    if num_outcomes <= num_rows:
        wanted = min(num_rows, num_outcomes * (1 + max_masks))
        assert num_outcomes + sum(masks) == wanted, "no row is left unused"
    else:
        assert sum(masks) == 0


@given(_confidences.filter(bool), st.integers(2, 40))
def test_a_likelier_outcome_never_gets_fewer(confidences: list[float], num_rows: int) -> None:
    masks = share_masks(confidences, num_rows=num_rows, max_masks=4)
    kept, likelihoods = 1.0, []
    for confidence in confidences:
        likelihoods.append(kept * (1 - confidence))
        kept *= confidence
    likelihoods.append(kept)
    ordered = sorted(zip(likelihoods, masks, strict=True))
    for (less, few), (more, many) in pairwise(ordered):
        assert few <= many or less == pytest.approx(more)
