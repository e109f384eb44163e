"""Lines that are written again: the same text with a draft as without."""

from collections.abc import Sequence

import pytest
import torch
from cancel_when import cancelling

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.next_edit.corrections import Rewriter, Rewritten
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.fill_control import NO_CONTROL, FillControl

NUM = 20
CPU = torch.device("cpu")


def written(
    backbone: CausalBackbone,
    text: FimTokenizer,
    draft: Sequence[int],
    control: FillControl = NO_CONTROL,
) -> Rewritten:
    cache = backbone.new_cache()
    prompt = text.encode("original:\na = 1\nupdated:\n")
    rewriter = Rewriter(backbone, frozenset(range(256, 300)))
    return rewriter.write(cache, prompt, draft, control)


@torch.inference_mode()
def one_by_one(backbone: CausalBackbone, text: FimTokenizer, num: int) -> tuple[list[int], float]:
    """Return greedy tokens, each from a pass over all before it, and their log-probability."""
    ids, total = text.encode("original:\na = 1\nupdated:\n"), 0.0
    start = len(ids)
    for _ in range(num):
        rows = frozen_rows(ids, start=0, device=backbone.device)
        logits = backbone.logits(backbone.forward(rows, backbone.new_cache()))[-1].log_softmax(-1)
        ids.append(int(logits.argmax()))
        total += float(logits.max())
    return ids[start:], total


def test_any_draft_gives_the_greedy_text(backbone: CausalBackbone, text: FimTokenizer) -> None:
    plain = written(backbone, text, [])
    exact, log_p = one_by_one(backbone, text, len(plain.ids))
    assert plain.ids == exact
    good, half = exact, [*exact[:9], 7, 7, *exact[11:]]
    for draft in (good, half, [5] * 30):
        found = written(backbone, text, draft)
        shared = min(len(found.ids), len(exact))
        assert found.ids[:shared] == exact[:shared]
        if len(found.ids) == len(exact):
            assert found.log_p == pytest.approx(plain.log_p, abs=1e-3)
    assert log_p < 0


def test_it_ends_between_two_passes(backbone: CausalBackbone, text: FimTokenizer) -> None:
    seen: list[bool] = []
    control = cancelling(lambda: seen.append(True) or len(seen) > 3)
    with pytest.raises(Cancelled):
        written(backbone, text, [], control=control)


def test_a_text_without_an_end_is_cut_off(backbone: CausalBackbone, text: FimTokenizer) -> None:
    found = Rewriter(backbone, frozenset()).write(
        backbone.new_cache(), text.encode("a = "), [], NO_CONTROL
    )
    assert 0 < len(found.ids) < 200


def test_the_likelihood_of_a_text_is_that_of_its_tokens_one_by_one(
    backbone: CausalBackbone, text: FimTokenizer
) -> None:
    ends = frozenset(range(256, 280))
    prompt, ids = text.encode("original:\na = 1\nupdated:\n"), text.encode("a = 2\n" * 9)
    found = Rewriter(backbone, ends).log_probability(backbone.new_cache(), prompt, ids, NO_CONTROL)
    rows = frozen_rows([*prompt, *ids], start=0, device=CPU)
    with torch.inference_mode():
        hidden = backbone.forward(rows, backbone.new_cache())
        likely = backbone.logits(hidden[len(prompt) - 1 :]).log_softmax(-1)
    exact = sum(float(likely[i, token]) for i, token in enumerate(ids))
    assert found == pytest.approx(exact + float(likely[-1, sorted(ends)].max()), abs=1e-2)
