"""Contexts that are held: the same answers as from nothing, within the budget, oldest out first."""

import random
from pathlib import Path

import pytest
import torch
from cancel_when import cancelling
from toy_causal import toy_backbone, toy_context, toy_fill, toy_filler
from toy_causal_fill import run_fill

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import ContextCache
from intarsia.engine.families.masked_causal.passes import SpeculativePasses
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.ipc.messages import Decoding, Fill


@pytest.mark.parametrize("decoding", ["speculative", "autoregressive"])
def test_a_second_request_reads_nothing_again(decoding: Decoding, toy: Path, drafter: Path) -> None:
    filler = toy_filler(toy, drafter)
    first = run_fill(filler, toy_fill(decoding=decoding))
    second = run_fill(filler, toy_fill(decoding=decoding))
    assert (first.num_reused, second.num_prefilled) == (0, 0)
    assert second.num_reused == first.num_prefilled
    assert (second.text, second.num_forwards) == (first.text, first.num_forwards)


def edited(ids: list[int], chance: random.Random) -> list[int]:
    """Type, delete or replace somewhere, at times jump elsewhere."""
    at, kind = chance.randrange(len(ids)), chance.random()
    new = [chance.randrange(250) for _ in range(chance.randrange(1, 6))]
    if kind < 0.4:
        return ids[:at] + new + ids[at:]
    if kind < 0.7:
        return (ids[:at] + ids[at + 3 :]) or new
    if kind < 0.9:
        return ids[:at] + new
    return [chance.randrange(250) for _ in range(chance.randrange(1, 60))]


def test_any_script_of_edits_says_warm_what_is_said_cold(toy: Path, drafter: Path) -> None:
    chance = random.Random(0)
    warm = toy_context(toy, drafter, cache_tokens=200)
    ids = [chance.randrange(250) for _ in range(50)]
    num_reused = 0
    with torch.inference_mode():
        for _ in range(100):
            ids = edited(ids, chance)[:90]
            cold = toy_context(toy, drafter)
            num_reused += warm.prefill(ids).num_reused
            cold.prefill(ids)
            torch.testing.assert_close(warm.next_logits(), cold.next_logits(), atol=1e-4, rtol=1e-4)
            if chance.random() < 0.5:  # write into the hole, as a fill does
                tokens = [chance.randrange(250) for _ in range(3)]
                passes = SpeculativePasses(warm)
                fresh = SpeculativePasses(cold)
                drafted, expected = (each.draft(tokens[0], 5, 0.0) for each in (passes, fresh))
                assert drafted.confidences == pytest.approx(expected.confidences, abs=1e-3)
                torch.testing.assert_close(
                    passes.verify(tokens), fresh.verify(tokens), atol=1e-4, rtol=1e-4
                )
                passes.keep(chance.randrange(1, 4))
            elif chance.random() < 0.3:
                warm.extend(chance.randrange(250))
    assert num_reused > 500


def test_an_end_that_was_cropped_is_not_taken_for_a_new_one(toy: Path) -> None:
    head, old, new = list(range(15)), [90, 91, 92, 93, 94], list(range(100, 115))
    warm, cold = toy_context(toy), toy_context(toy)
    warm.prefill(head + old)
    warm.prefill(head + new)
    warm.prefill(head + new[:5])  # as long as the first, but not the same
    cold.prefill(head + new[:5])
    torch.testing.assert_close(warm.next_logits(), cold.next_logits(), atol=1e-4, rtol=1e-4)


def test_a_cancelled_read_is_taken_up_where_it_stopped(toy: Path) -> None:
    ids = [i % 250 for i in range(1200)]
    causal, answers = toy_context(toy), iter([False, True])
    with pytest.raises(Cancelled):
        causal.prefill(ids, cancelling(lambda: next(answers)))
    again = causal.prefill(ids)
    assert (again.num_reused, again.num_computed) == (256, 944)
    cold = toy_context(toy)
    cold.prefill(ids)
    torch.testing.assert_close(causal.next_logits(), cold.next_logits(), atol=1e-4, rtol=1e-4)


class TestContextCache:
    """By itself: which contexts it holds."""

    @pytest.fixture
    def cache(self, toy: Path) -> ContextCache:
        return ContextCache(toy_backbone(toy).new_cache, max_tokens=200)

    def read(self, cache: ContextCache, ids: list[int]) -> int:
        """Read a context as a prefill does; return how much of it was held."""
        held, length = cache.open(ids)
        self.write(held, ids[length:])
        return length

    def write(self, held: KvCache, ids: list[int]) -> None:
        held.reserve(len(ids))
        for layer in range(3):
            rows = torch.tensor(ids, dtype=torch.float32)[None, :, None].expand(2, -1, 16)
            held.write(layer, rows, rows)
        held.commit(ids)

    def test_the_oldest_goes_first(self, cache: ContextCache) -> None:
        for start in (0, 200, 400):
            assert self.read(cache, list(range(start, start + 30))) == 0
        assert self.read(cache, list(range(0, 30))) == 30, "used again: now the newest"
        assert self.read(cache, list(range(600, 630))) == 0
        assert cache.num_tokens == 90
        assert self.read(cache, list(range(200, 230))) == 0, "the oldest is gone"
        assert self.read(cache, list(range(0, 30))) == 30

    def test_one_too_long_is_held_alone(self, cache: ContextCache) -> None:
        self.read(cache, list(range(30)))
        self.read(cache, list(range(200, 350)))
        assert cache.num_tokens == 150
        assert self.read(cache, list(range(200, 350))) == 150

    def test_a_shared_beginning_is_copied_and_both_stay(self, cache: ContextCache) -> None:
        head = list(range(35))
        first, _ = cache.open([*head, *range(100, 140)])
        self.write(first, [*head, *range(100, 140)])
        copy, length = cache.open([*head, *range(150, 155)])
        assert (length, copy.ids) == (35, head)
        assert copy is not first
        assert first.ids == [*head, *range(100, 140)]
        assert torch.equal(copy.keys[:, :, :35], first.keys[:, :, :35])
        assert torch.equal(copy.values[:, :, :35], first.values[:, :, :35])

    def test_a_copy_is_made_before_its_source_is_put_out(self, cache: ContextCache) -> None:
        head = list(range(35))
        self.read(cache, [*head, *range(100, 140)])
        assert self.read(cache, [*head, *range(150, 190)]) == 35
        assert cache.num_tokens == 75

    def test_a_short_shared_beginning_is_not_worth_a_copy(self, cache: ContextCache) -> None:
        self.read(cache, [*range(10), *range(100, 140)])
        assert self.read(cache, [*range(10), *range(200, 210)]) == 0

    def test_one_that_shares_most_is_taken_over(self, cache: ContextCache) -> None:
        self.read(cache, list(range(30)))
        assert self.read(cache, [*range(20), 99, 98]) == 20
        assert cache.num_tokens == 22

    def test_one_whose_end_is_long_is_copied(self, cache: ContextCache) -> None:
        """A bracket that an editor closes by itself changes the suffix, and back again."""
        head, end = list(range(40)), list(range(100, 136))
        self.read(cache, [*head, *end])
        assert self.read(cache, [*head, 99]) == 40
        assert self.read(cache, [*head, *end]) == 76

    def test_one_within_another_goes_before_older_ones(self, toy: Path) -> None:
        cache = ContextCache(toy_backbone(toy).new_cache, max_tokens=320)
        self.read(cache, list(range(200, 230)))
        self.read(cache, list(range(76)))
        assert self.read(cache, list(range(36))) == 36, "a copy"
        self.read(cache, list(range(300, 330)))
        self.read(cache, list(range(400, 430)))
        assert cache.num_tokens == 30 + 76 + 30 + 30
        assert self.read(cache, list(range(200, 230))) == 30

    @pytest.mark.parametrize("seed", range(20))
    def test_never_more_than_the_budget_but_for_one(self, seed: int, cache: ContextCache) -> None:
        chance = random.Random(seed)
        ids = [chance.randrange(5) for _ in range(20)]
        for _ in range(60):
            ids = edited(ids, chance)[:120]
            length = self.read(cache, ids)
            assert length <= len(ids)
            assert cache.num_tokens <= max(200, len(ids))


def test_no_more_than_needed_is_shared() -> None:
    assert common_prefix_length([], [1]) == 0
    assert common_prefix_length([1, 2, 3], [1, 2]) == 2
    assert common_prefix_length([1, 2, 3], [1, 5, 3]) == 1
    long = list(range(600))
    assert common_prefix_length(long, tuple(long)) == 600
    for place in (0, 255, 256, 511, 512, 599):
        assert common_prefix_length(long, [*long[:place], -1, *long[place + 1 :], 7]) == place


WINDOW = 110
"""Characters of a file before and after the hole that a request has, as the server cuts them."""


def source(name: str, num_functions: int = 30) -> str:
    return "".join(
        f"def {name}_{n}(a, b):\n    c = a * {n} + b\n    return c - {n}\n\n\n"
        for n in range(num_functions)
    )


def at(text: str, function: int) -> Fill:
    """Return the request at the end of a function's first line; windows begin at a function."""
    offset = 0
    for _ in range(function + 1):
        offset = text.index("def ", offset) + 4
    start = text.index("\n    return", offset)
    first = text.rfind("def ", 0, max(0, start - WINDOW) + 4)
    return toy_fill(text[max(0, first) : start], text[start:][:WINDOW], max_tokens=2)


@pytest.fixture
def filler(toy: Path) -> MaskedCausalFiller:
    return toy_filler(toy, max_context_tokens=500, cache_tokens=6_000)


def num_read(filler: MaskedCausalFiller, request: Fill) -> int:
    return run_fill(filler, request).num_prefilled


def test_back_in_a_file_after_much_work_in_another_nothing_is_read(filler: MaskedCausalFiller):
    """Each change of the other file's suffix is a boundary of its own: these put out no other."""
    text, other = source("f"), source("other")
    num_read(filler, at(text, 5))
    for n in range(80):
        num_read(filler, at(other.replace("- 21", f"- {n}"), 20))
    assert filler.cached_tokens() <= 6_000
    assert num_read(filler, at(text, 5)) == 0


def test_an_edit_below_costs_the_suffix_only(filler: MaskedCausalFiller) -> None:
    text = source("f")
    whole = num_read(filler, at(text, 5))
    edited = text.replace("return c - 6", "return c + 6")
    assert 0 < num_read(filler, at(edited, 5)) < 0.75 * whole
    assert num_read(filler, at(text, 5)) == 0, "and going back costs nothing"


def test_a_tour_of_files_reads_each_once(filler: MaskedCausalFiller) -> None:
    texts = [source(f"name{n}") for n in range(12)]
    for text in texts:
        assert num_read(filler, at(text, 5)) > 60
    for text in [*reversed(texts), *texts]:
        assert num_read(filler, at(text, 5)) == 0
