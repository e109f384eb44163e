"""Speculative decoding on a backbone of rules: any text, any proposals, any budget."""

import time
from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest
import torch
from cancel_when import cancelling
from hypothesis import given
from hypothesis import strategies as st

from intarsia.engine.decoding.speculation_policy import (
    DraftSources,
    PromptLookup,
    Proposal,
    Proposer,
    RevisedText,
    SpeculationPolicy,
)
from intarsia.engine.decoding.speculative import decode_speculatively
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

    def verify(self, tokens: Sequence[int]) -> torch.Tensor:
        assert tokens[0] == self.truth[self.num_held], "the first row is the last committed token"
        self.num_forwards += 1
        self.most_rows = max(self.most_rows, len(tokens))
        self._last = list(tokens)
        return torch.stack([self._says(self.num_held + 1 + j) for j in range(len(tokens))])

    def draft(self, newest: int, num_tokens: int, min_chance: float) -> Proposal:
        assert newest == self.truth[self.num_held], "it follows the last committed token"
        ids = []
        for place in range(self.num_held + 1, self.num_held + 1 + num_tokens):
            is_right = self._is_right[next(self._drawn) % len(self._is_right)]
            token = int(self._says(place).argmax())
            ids.append(token if is_right else (token + 1) % _VOCAB)
        return Proposal(ids=ids, confidences=[0.9] * len(ids))

    def keep(self, num_tokens: int) -> None:
        kept = self._last[:num_tokens]
        assert kept == [*self.truth, _END][self.num_held : self.num_held + num_tokens]
        self.num_held += num_tokens

    def _says(self, place: int) -> torch.Tensor:
        token = self.truth[place] if place < len(self.truth) else _END
        return torch.nn.functional.one_hot(torch.tensor(token), _VOCAB) * 5.0


def num_until_end(ids: Sequence[int]) -> int | None:
    return next((i + 1 for i, token in enumerate(ids) if token == _END), None)


def decode(verifier, policy, *, control=NO_CONTROL, revised=(), **limits):
    shown: list[HoleTokens] = []
    first = ScoredToken(id=verifier.truth[0], confidence=0.9, entropy=0.1)
    options: dict[str, Any] = {"max_tokens": 100} | limits
    hole = decode_speculatively(
        verifier,
        HoleRequest(first=[first], num_until_end=num_until_end, **options),
        policy,
        sources=DraftSources(context=[5, 6], revised=revised),
        control=control,
        on_round=shown.append,
    )
    return hole, shown


_truths = st.lists(st.integers(1, _VOCAB - 1), min_size=1, max_size=25)
_draws = st.lists(st.booleans(), min_size=1, max_size=30)
_policies = st.builds(
    SpeculationPolicy,
    num_drafted=st.integers(0, 8),
    num_looked_up=st.integers(0, 8),
    min_chance=st.sampled_from([0.0, 0.1, 0.5]),
)


@given(_truths, _draws, _policies)
def test_the_text_is_the_models_own(truth, is_right, policy):
    verifier = RuleVerifier(truth, is_right)
    hole, _ = decode(verifier, policy)
    assert hole.ids == [*truth, _END]
    assert hole.num_committed == len(hole.confidences) == len(hole.entropies)
    assert hole.num_forwards == verifier.num_forwards <= len(truth)
    assert verifier.most_rows <= 1 + max(policy.num_drafted, policy.num_looked_up)
    assert hole.finish_reason == "end"


@given(_truths, _draws, _policies, st.integers(1, 25))
def test_no_more_tokens_than_asked_for(truth, is_right, policy, max_tokens):
    hole, shown = decode(RuleVerifier(truth, is_right), policy, max_tokens=max_tokens)
    assert hole.ids == [*truth, _END][:max_tokens]
    assert all(len(text.ids) <= max_tokens for text in shown)
    assert shown[-1].ids[: len(hole.ids)] == hole.ids
    is_whole = len(truth) < max_tokens
    assert hole.finish_reason == ("end" if is_whole else "max_tokens")


@given(_truths, _draws, _policies, st.integers(1, 6))
def test_too_few_passes_return_the_proposal_too(truth, is_right, policy, max_forwards):
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
        RuleVerifier([1, 2, 3, 4, 5, 6] * 4, [True]),
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
    [{"num_drafted": -1}, {"num_from_answer": -1}, {"min_chance": 1.0}, {"min_chance": -0.1}],
)
def test_a_policy_out_of_range_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="out of range"):
        SpeculationPolicy(**fields)


class HastyVerifier(RuleVerifier):
    """Would end after every token of the truth; predicts the next one where it may not."""

    def keep(self, num_tokens: int) -> None:
        self.num_held += num_tokens

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
def test_an_answer_from_before_goes_before_the_context(context, written, first, found):
    assert PromptLookup(context, _ANSWERS).continue_from(written, 3, first) == found


@given(_ids, st.integers(1, 6), st.none() | st.integers(0, 3), st.integers(0, 30))
def test_what_is_found_did_follow_the_key(ids, num, first, at):
    found = PromptLookup(ids[:at]).continue_from(ids[at:], num, first)
    key, places = ids[-2:], range(len(ids) - 2)
    followed = [ids[i + 2 : i + 2 + num] for i in places if ids[i : i + 2] == key]
    followed = [run for run in followed if first is None or run[0] == first]
    assert found == (followed[-1] if followed else [])


@pytest.mark.parametrize("row_cost", [0.0, 0.05, 0.09, 0.3, 2.0])
def test_the_dearer_a_row_the_less_is_verified(row_cost: float) -> None:
    policy, cheaper = (SpeculationPolicy.for_row_cost(cost) for cost in (row_cost, row_cost / 2))
    assert policy.min_chance >= cheaper.min_chance and policy.num_drafted <= cheaper.num_drafted
    assert 0.1 <= policy.min_chance <= 0.5 and policy.num_drafted >= 3


def proposed(own: list[int], context: list[int], **policy: Any) -> list[int]:
    """Return what is proposed after [1, 2] from the drafter's tokens, each with 0.9."""
    hole = HoleRequest(
        first=[ScoredToken(id=1, confidence=0.9, entropy=0.1)],
        num_until_end=num_until_end,
        max_tokens=100,
    )
    proposer = Proposer(
        DraftSources(context=context), hole, SpeculationPolicy(min_chance=0, **policy)
    )
    return list(proposer.next([1, 2], Proposal(ids=own, confidences=[0.9] * len(own))).ids)


@pytest.mark.parametrize(
    ("own", "context", "ids"),
    [
        ([3, 4], [1, 2, 3, 4, 5, 6, 9], [3, 4, 5, 6]),  # earlier text goes on where it agrees
        ([3, 5], [1, 2, 3, 4, 5, 6, 9], [3, 5]),
        ([], [1, 2, 3, 4, 5], [3, 4, 5, 1]),
        ([3, 4, 5, 6], [1, 2, 3, 9], [3, 4, 5, 6]),
        ([3, _END, 4], [], [3, _END]),  # nothing is verified behind the end
    ],
)
def test_earlier_text_extends_a_draft(own: list[int], context: list[int], ids: list[int]) -> None:
    assert proposed(own, context, num_drafted=4, num_looked_up=4) == ids


@given(_truths, _draws, _policies, st.lists(st.integers(1, _VOCAB - 1), max_size=25))
def test_a_revision_is_the_models_own_text_too(truth, is_right, policy, revised):
    hole, _ = decode(RuleVerifier(truth, is_right), policy, revised=revised)
    assert hole.ids == [*truth, _END]


def test_what_a_revision_keeps_costs_few_passes() -> None:
    old = [1, 2, 3, 1, 4, 2, 5, 1, 6, 3, 2, 6, 4, 3, 5, 2]
    new = [*old[:6], 6, 6, *old[7:]]  # in the middle, one token becomes two
    num = [
        decode(RuleVerifier(new, [False]), SpeculationPolicy(), revised=revised)[0].num_forwards
        for revised in (old, ())
    ]
    assert num[0] <= 6 < 10 <= num[1]


@pytest.mark.parametrize(
    ("written", "follows"),
    [
        ([], [1, 2, 3]),  # from the beginning
        ([1, 2], [3, 1, 2]),
        ([9, 3, 1, 2], [4]),  # the longest key that both have
        ([1, 9], []),
        ([4], []),
    ],
)
def test_a_revised_text_is_followed_where_it_is_joined_again(written, follows):
    assert list(RevisedText([5, 6], [1, 2, 3, 1, 2, 4]).continue_from(written, 3).ids) == follows
