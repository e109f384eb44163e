"""The floor counts what a pass cannot do without; numbers are checked against hand-made ones."""

import pytest
import torch

from intarsia_research.model_cost.ceilings import Ceilings
from intarsia_research.model_cost.gemma_shape import gemma_config
from intarsia_research.model_cost.random_gemma import random_gemma
from intarsia_research.model_cost.work import (
    GemmaSizes,
    LayerSizes,
    Work,
    pass_work,
    prefill_work,
    read_sizes,
)

# transformers' own import of a torch module warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")

LAYER = LayerSizes(
    expert_bytes=100,
    other_bytes=1000,
    numbers_a_row=50,
    kv_bytes_a_token=10,
    attention_width=3,
    window=7,
)
SIZES = GemmaSizes(
    layers=(LAYER,),
    num_experts=8,
    embed_bytes=400,
    embed_numbers=200,
    conditioning_bytes=60,
    conditioning_numbers=30,
    vocab_size=20,
    row_bytes=2,
)


def test_a_pass_reads_chosen_experts_once_and_the_context_as_far_as_it_is_seen() -> None:
    work = pass_work(SIZES, canvas=4, batch=2, context=100, touched=[5])
    logits = 8 * 20 * (2 + 4)
    assert work.bytes == 2 * 400 + 60 + logits + 1000 + 5 * 100 + (7 + 8) * 10
    assert work.flops == 2 * 8 * (2 * 200 + 30) + 2 * 8 * 50 + 4 * 8 * (7 + 4) * 3


def test_a_context_shorter_than_the_window_is_seen_whole() -> None:
    shorter, longer = (
        pass_work(SIZES, canvas=4, batch=1, context=context, touched=[5]) for context in (3, 7)
    )
    assert longer.bytes - shorter.bytes == (7 - 3) * 10


def test_reading_in_two_chunks_reads_the_weights_twice() -> None:
    one, two = (prefill_work(SIZES, context=8, chunk=chunk) for chunk in (8, 4))
    weights = 1000 + 8 * 100
    assert one.bytes == weights + 8 * 10
    assert two.bytes == 2 * weights + 4 * 10 + (4 + 4) * 10


def test_the_larger_of_two_times_is_the_floor_s() -> None:
    floor = Ceilings(copy_bytes_per_s=1e9, product_flops_per_s=1e12).floor(
        Work(bytes=2_000_000, flops=3_000_000_000)
    )
    assert (floor.bytes_ms, floor.flops_ms) == (2.0, 3.0)


def test_sizes_of_a_model_add_up_to_its_weights() -> None:
    model = random_gemma(gemma_config("toy"), device=torch.device("cpu"), dtype=torch.bfloat16)
    sizes = read_sizes(model)
    layers = sum(each.other_bytes + 16 * each.expert_bytes for each in sizes.layers)
    decoder = model.model.decoder
    held = sum(
        t.nbytes for layer in decoder.layers for t in (*layer.parameters(), *layer.buffers())
    )
    assert layers == held
    assert sizes.embed_bytes == 512 * 64 * 2
    assert [each.window for each in sizes.layers] == [31, None]
    assert [each.kv_bytes_a_token for each in sizes.layers] == [2 * 2 * 16 * 2, 2 * 32 * 2]
