"""A GGUF file becomes a folder of fused tensors, a config and a tokenizer, or is refused."""

import gc
import struct
from collections import namedtuple
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from small_gguf import (
    ARRAY,
    FIELDS,
    FLOAT32,
    STRING,
    TENSORS,
    UINT32,
    gguf_field,
    gguf_file,
    gguf_string,
    gguf_tensor,
)
from tokenizers import Tokenizer
from toy_causal import located, quiet, save_drafter
from toy_gguf import SPECIAL_TOKENS, ToyGguf, toy_model, toy_tokens, write_gguf
from transformers import AutoConfig

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.int8_backbone import is_int8_supported
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.load import load_backbone
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.model_store.gguf.convert import convert
from intarsia.engine.model_store.gguf.read import read_gguf_model
from intarsia.engine.model_store.gguf.tensors import open_gguf
from intarsia.engine.model_store.locate import ModelFolder


def converted(tmp_path: Path, **toy: object) -> Path:
    model = toy_model("qwen2", is_tied=True)
    file = write_gguf(tmp_path / "toy.gguf", model, ToyGguf(architecture="qwen2", **toy))
    convert(file, tmp_path / "folder", quiet)
    return tmp_path / "folder"


def refusal(tmp_path: Path, **toy: object) -> str:
    with pytest.raises(ModelError) as failure:
        converted(tmp_path, **toy)
    message = str(failure.value)
    assert "\n" not in message
    assert not (tmp_path / "folder").exists()
    return message


def test_the_file_names_its_layout_and_can_be_mapped_at_aligned_addresses(tmp_path: Path) -> None:
    path = converted(tmp_path) / "model.safetensors"
    assert (8 + int.from_bytes(path.read_bytes()[:8], "little")) % 64 == 0
    with safe_open(path, "pt") as file:
        assert file.metadata() == {"format": "intarsia-fused-1"}
        assert all(file.get_tensor(name).data_ptr() % 64 == 0 for name in file.keys())  # noqa: SIM118


def test_the_config_is_the_models_own(tmp_path: Path) -> None:
    config = AutoConfig.from_pretrained(converted(tmp_path))
    original = toy_model("qwen2", is_tied=True).config
    names = (
        *("model_type", "hidden_size", "intermediate_size", "num_hidden_layers", "vocab_size"),
        *("num_attention_heads", "num_key_value_heads", "rms_norm_eps", "rope_parameters"),
        *("tie_word_embeddings", "max_position_embeddings", "hidden_act"),
    )
    assert {n: getattr(config, n) for n in names} == {n: getattr(original, n) for n in names}


def test_the_tokenizer_merges_splits_and_knows_its_special_tokens(tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_file(str(converted(tmp_path) / "tokenizer.json"))
    encoded = tokenizer.encode("<|fim_prefix|>def  re12<|fim_suffix|>é")
    assert encoded.tokens == (
        ["<|fim_prefix|>", "def", "Ġ", "Ġ", "re", "1", "2", "<|fim_suffix|>", "Ã", "©"]
    )
    ids = [tokenizer.token_to_id(token) for token in SPECIAL_TOKENS]
    assert ids == [toy_tokens().index(token) for token in SPECIAL_TOKENS]
    assert tokenizer.decode(encoded.ids) == "def  re12é"
    assert tokenizer.token_to_id("[PAD264]") is None


def test_an_interrupted_conversion_leaves_no_folder(toy_gguf: Path, tmp_path: Path) -> None:
    def interrupt(stage: str, fraction: float | None) -> None:
        if fraction:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(toy_gguf, tmp_path / "folder", interrupt)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.lock", "toy.gguf"]
    reports: list[tuple[str, float | None]] = []
    convert(toy_gguf, tmp_path / "folder", lambda *report: reports.append(report))
    assert (tmp_path / "folder" / "model.safetensors").is_file()
    assert (reports[0], reports[-1][1]) == (("reading toy.gguf", None), 1.0)


def test_a_disk_too_small_is_refused_before_the_work(tmp_path: Path, monkeypatch):
    usage = namedtuple("usage", "total used free")(10_000, 9_000, 1_000)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    assert "not enough space on the disk" in refusal(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's device that is full")
def test_a_disk_that_fills_up_during_the_conversion_is_an_error(tmp_path: Path, monkeypatch):
    usual_open = Path.open

    def open_full(path: Path, *args: object, **options: object) -> object:
        is_big = path.name == "model.safetensors"
        return usual_open(Path("/dev/full") if is_big else path, *args, **options)

    monkeypatch.setattr(Path, "open", open_full)
    assert "no space left on the disk" in refusal(tmp_path)
    assert not (tmp_path / "folder.partial").exists()


@pytest.mark.parametrize(
    ("toy", "said"),
    [
        (
            {"name_in_file": "mamba"},
            "GGUF architecture 'mamba' is not supported: use one of qwen2, qwen3, llama",
        ),
        ({"pre_tokenizer": "falcon"}, "tokenizer gpt2/falcon is not supported"),
        ({"fields": {"qwen2.rope.scaling.type": "yarn"}}, "scaled RoPE"),
        ({"fields": {"qwen2.expert_count": 8}}, "mixture of experts"),
        ({"drops": ("blk.1.ffn_up.weight",)}, "lacks the tensor blk.1.ffn_up.weight"),
        ({"adds": {"blk.0.attn_sinks.weight": torch.zeros(4)}}, "blk.0.attn_sinks.weight"),
    ],
)
def test_what_would_be_computed_wrongly_is_refused(tmp_path, toy, said):
    assert said in refusal(tmp_path, **toy)


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.99, None])
def test_a_cut_off_or_another_kind_of_file_is_refused(toy_gguf, tmp_path, kept):
    content = toy_gguf.read_bytes()
    cut = b"%PDF-1.7 and more" if kept is None else content[: int(len(content) * kept)]
    toy_gguf.write_bytes(cut)
    with pytest.raises(ModelError, match=r"toy\.gguf is not a GGUF file, or is damaged"):
        convert(toy_gguf, tmp_path / "folder", quiet)


ENDLESS = struct.pack("<IQ", 7, 2**62)  # as many truth values


def without(start: bytes) -> tuple[bytes, ...]:
    """Return the fields but those with a key that starts like this."""
    return tuple(field for field in FIELDS if not field[8:].startswith(start))


def with_field(key: str, kind: int, value: bytes) -> bytes:
    return gguf_file((*without(key.encode()), gguf_field(key, kind, value)), TENSORS)


def test_the_file_that_the_others_differ_from_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_file(FIELDS, TENSORS))
    model = read_gguf_model(path)
    assert model.config["hidden_size"] == 8
    assert [tensor.name for tensor in model.tensors] == ["embed", "norm"]


ODD_FILES = {
    "an array without an end": with_field("extra", ARRAY, ENDLESS),
    "a text without an end": with_field("extra", STRING, struct.pack("<Q", 2**63)),
    "arrays in arrays": with_field("extra", ARRAY, struct.pack("<IQ", ARRAY, 1) * 5_000),
    "fields without an end": b"GGUF" + struct.pack("<IQQ", 3, 0, 2**62) + bytes(64),
    "a field twice": gguf_file((*FIELDS, FIELDS[1]), TENSORS),
    "no heads": with_field("qwen2.attention.head_count", UINT32, struct.pack("<I", 0)),
    "a text for a number": with_field("qwen2.embedding_length", STRING, gguf_string("many")),
    "a number for a list": with_field("tokenizer.ggml.tokens", FLOAT32, struct.pack("<f", 1.0)),
    "no kinds of tokens": gguf_file(without(b"tokenizer.ggml.token_type"), TENSORS),
    "a merge of no token": with_field(
        "tokenizer.ggml.merges", ARRAY, struct.pack("<IQ", STRING, 1) + gguf_string("x y")
    ),
    "a tensor of another rank": gguf_file(
        FIELDS, (gguf_tensor("token_embd.weight"), gguf_tensor("output_norm.weight", 8))
    ),
    "a tensor after the end": gguf_file(
        FIELDS, (gguf_tensor("token_embd.weight", 2**40), gguf_tensor("output_norm.weight", 8))
    ),
    "half a character": gguf_file((*FIELDS, FIELDS[0].replace(b"general", b"gen\xffral")), TENSORS),
}


@pytest.mark.parametrize("name", ODD_FILES)
def test_an_odd_file_is_refused_with_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(ODD_FILES[name])
    with pytest.raises(ModelError) as failure:
        read_gguf_model(path)
    message = str(failure.value)
    assert "\n" not in message
    assert len(message) < 500
    assert "GGUF" in message or "damaged" in message


def test_a_file_of_too_many_values_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("intarsia.engine.model_store.gguf.tensors._MAX_VALUES", 20)
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_file(FIELDS, TENSORS))
    with pytest.raises(ModelError, match="too many values"):
        open_gguf(path)


@pytest.fixture
def folder(toy_gguf: Path, cache: Path) -> ModelFolder:
    """A converted model, in our own layout."""
    found = located(str(toy_gguf))
    assert found.is_fused
    return found


@torch.inference_mode()
def logits_of(backbone: CausalBackbone) -> torch.Tensor:
    rows = frozen_rows([5, 6, 7], start=0)
    return torch.as_tensor(backbone.logits(backbone.forward(rows, backbone.new_cache()))).float()


def backbone_of(folder, drafter, dtype) -> CausalBackbone:
    loaded = load_backbone(folder, read_shape(folder.config), dtype, "cpu", drafter=drafter)
    assert loaded.format_name == dtype
    return loaded.backbone


@pytest.mark.skipif(not is_int8_supported(), reason="this processor has no int8 dot product")
def test_logits_are_those_of_plain_matrices_with_the_file_mapped_once(folder, tmp_path):
    drafter = save_drafter(tmp_path / "drafter.safetensors", folder.path)
    plain = backbone_of(folder, drafter, "bfloat16")
    expected = logits_of(plain)
    del plain
    gc.collect()  # or its file may be mapped still
    backbone = backbone_of(folder, drafter, "int8")
    found = logits_of(backbone)
    assert (found - expected).norm() < 0.1 * expected.norm()
    if Path("/proc/self/maps").exists():
        (weights,) = folder.weights
        maps = Path("/proc/self/maps").read_text().splitlines()
        assert len([line for line in maps if line.endswith(str(weights.resolve()))]) == 1
