"""The backbone by transformers as a baseline: toys of random numbers, and the real one."""

from dataclasses import replace
from pathlib import Path

import gguf
import msgspec
import numpy as np
import psutil
import pytest
import torch
from sample_cases import case
from toy_gguf import ToyGguf, toy_model, toy_tokens, write_gguf

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.systems.baseline_program import Prompt
from intarsia_research.evaluation.systems.transformers_backbone import transformers_backbone
from intarsia_research.evaluation.systems.transformers_process import Backbone, load_backbone

PROMPT = Prompt(prefix="def f(x):\n", suffix="\nprint(f)\n", stop=(), max_tokens=24)
MARKS = [toy_tokens().index(f"<|fim_{it}|>") for it in ("prefix", "suffix", "middle")]


@pytest.fixture(scope="module")
def toy_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tied model whose file holds the one matrix twice, rounded differently."""
    toy = ToyGguf(architecture="qwen2", repeats_tied_output=True)
    path = tmp_path_factory.mktemp("toy") / "toy.gguf"
    return write_gguf(path, toy_model("qwen2", is_tied=True), toy)


@pytest.fixture(scope="module")
def backbone(toy_file: Path) -> Backbone:
    return load_backbone(toy_file)


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Backbone:
    """A model whose numbers are so wide that its text varies."""
    model = toy_model("qwen2", is_tied=True)
    with torch.no_grad():
        for matrix in (it for it in model.parameters() if it.dim() > 1):
            matrix.mul_(8)
    path = tmp_path_factory.mktemp("varied") / "toy.gguf"
    return load_backbone(write_gguf(path, model, ToyGguf(architecture="qwen2")))


def greedy(backbone: Backbone, context: list[int], num_tokens: int) -> list[int]:
    """Write without a cache and without ``generate``."""
    ids = list(context)
    with torch.inference_mode():
        for _ in range(num_tokens):
            ids.append(int(backbone.model(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[len(context) :]


def context_of(backbone: Backbone, prefix: str, suffix: str) -> list[int]:
    def ids(text: str) -> list[int]:
        return backbone.tokenizer(text, add_special_tokens=False).input_ids

    return [MARKS[0], *ids(prefix), MARKS[1], *ids(suffix), MARKS[2]]


def test_it_writes_the_likeliest_token_each_time(varied: Backbone):
    endless = replace(varied, end_ids=(10**6,))
    expected = greedy(varied, context_of(varied, PROMPT.prefix, PROMPT.suffix), 24)
    written = endless.write(PROMPT)
    assert written.text == varied.decode(expected)
    assert (written.num_forwards, written.num_tokens) == (23, 24)
    assert written.num_read == len(context_of(varied, PROMPT.prefix, PROMPT.suffix))


def test_an_end_token_ends_it_and_is_no_text(varied: Backbone):
    ids = greedy(varied, context_of(varied, PROMPT.prefix, PROMPT.suffix), 24)
    end = next(i for i in range(1, 24) if ids[i] not in ids[:i])
    written = replace(varied, end_ids=(ids[end],)).write(PROMPT)
    assert written.text == varied.decode(ids[:end])
    assert (written.num_forwards, written.num_tokens) == (end, end)


def test_a_stop_text_ends_it_and_is_no_text(varied: Backbone):
    endless = replace(varied, end_ids=(10**6,))
    text = endless.write(PROMPT).text
    at = next(i for i in range(4, len(text)) if text[i] not in text[:i])
    written = endless.write(
        Prompt(prefix=PROMPT.prefix, suffix=PROMPT.suffix, stop=(text[at],), max_tokens=24)
    )
    assert written.text == text[:at]
    assert written.num_forwards < 23
    assert written.num_tokens <= written.num_forwards + 1


def test_every_mark_of_the_model_ends_it(backbone: Backbone):
    tokens = toy_tokens()
    assert {tokens[i] for i in backbone.end_ids} == {it for it in tokens if it.startswith("<|")}


def test_what_looks_like_a_mark_in_a_file_is_text(backbone: Backbone):
    as_marks = context_of(backbone, "<|fim_middle|>", "x")
    assert MARKS[2] in as_marks[1:-1], "the tokenizer itself would take it for one"
    written = backbone.write(Prompt(prefix="<|fim_middle|>", suffix="x", stop=(), max_tokens=1))
    assert written.num_read == 3 + len("<|fim_middle|>") + len("x"), "a token a letter"


def test_one_matrix_that_the_file_holds_twice_is_one_again_the_finer_one(backbone: Backbone):
    embed = backbone.model.get_input_embeddings().weight
    output = backbone.model.get_output_embeddings().weight
    assert embed.data_ptr() == output.data_ptr()
    original = toy_model("qwen2", is_tied=True).get_output_embeddings().weight.detach().numpy()
    kind = gguf.GGMLQuantizationType.Q8_0
    fine = gguf.dequantize(gguf.quantize(original.astype(np.float32), kind), kind)
    assert torch.equal(output, torch.from_numpy(fine).to(output.dtype))
    assert backbone.details["embedding"] == "tied"


def test_two_matrices_stay_two(tmp_path: Path):
    model = toy_model("qwen2", is_tied=False)
    path = write_gguf(tmp_path / "toy.gguf", model, ToyGguf(architecture="qwen2"))
    untied = load_backbone(path)
    embed = untied.model.get_input_embeddings().weight
    assert embed.data_ptr() != untied.model.get_output_embeddings().weight.data_ptr()
    assert untied.details["embedding"] == "as in the file"


async def test_it_runs_in_a_process_of_its_own_and_its_end_is_a_fault(toy_file, backbone):
    hole = case(PROMPT.prefix, suffix=PROMPT.suffix, kind="line")
    baseline = transformers_backbone(toy_file, model="toy")
    before = set(psutil.Process().children())
    async with baseline.system(cleans=False).ready() as client:
        assert client.info.details["embedding"] == "tied"
        answer = await client.fill(hole)
        expected = backbone.write(
            Prompt(prefix=PROMPT.prefix, suffix=PROMPT.suffix, stop=("\n",), max_tokens=48)
        )
        assert (answer.text, answer.num_forwards) == (expected.text, expected.num_forwards)
        (process,) = set(psutil.Process().children()) - before
        process.kill()
        with pytest.raises(EvaluationFault, match=r"process ended \(exit code -9\)"):
            await client.fill(replace(hole, prefix="x = "))
    assert set(psutil.Process().children()) <= before


async def test_a_file_that_is_no_model_is_a_fault_in_one_line(tmp_path: Path):
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF, or nearly")
    with pytest.raises(EvaluationFault, match=r"transformers cannot load .*broken\.gguf") as caught:
        async with transformers_backbone(path).system(cleans=True).ready():
            pass
    assert "\n" not in str(caught.value)


def test_a_context_that_is_kept_is_not_read_again_and_gives_the_same_text(varied: Backbone):
    kept = msgspec.structs.replace(PROMPT, keeps_context=True)
    longer = msgspec.structs.replace(kept, suffix="\nprint(g)\n")
    for prompt in (kept, kept, longer, kept):
        own = varied.write(msgspec.structs.replace(prompt, keeps_context=False))
        again = varied.write(prompt)
        assert (again.text, again.num_forwards) == (own.text, own.num_forwards)
        assert (again.num_read or 0) + (again.num_reused or 0) == own.num_read
    assert varied.write(kept).num_read == 1


def test_what_was_written_is_no_part_of_the_kept_context(varied: Backbone):
    num_read = [
        varied.write(msgspec.structs.replace(PROMPT, keeps_context=True, prefix=prefix)).num_read
        for prefix in ("def f(x):\n", "def g(x):\n")
    ]
    whole = len(context_of(varied, "def g(x):\n", PROMPT.suffix))
    assert 1 < (num_read[1] or 0) < whole
