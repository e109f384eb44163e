"""``intarsia export`` and ``intarsia import`` on toy models: what they print, write and refuse."""

import json
from pathlib import Path

import pytest
import torch
from command_line import run
from safetensors.torch import load_file
from toy_causal import save_toy, toy_causal_model
from toy_gguf import ToyGguf, toy_model, write_gguf
from toy_lora import CLOSE, our_logits, peft_logits, plain_logits, save_lora, save_tuning

from intarsia.cli.errors import ExitCode
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, find_model


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_toy(tmp_path_factory.mktemp("toy"), toy_causal_model("qwen2"))


def test_a_lora_is_imported_and_the_line_says_how_to_use_it(toy: Path, tmp_path: Path) -> None:
    lora, out = save_lora(tmp_path / "lora", toy), tmp_path / "own" / "t.safetensors"
    result = run("import", "peft", lora, out, "--model", toy)
    assert result.exit_code == ExitCode.OK, result.stderr
    assert "changes 21 layers" in result.stdout
    model = result.stdout.rpartition("use it with --model ")[2].strip()
    assert model == f"{toy}+{out}"
    torch.testing.assert_close(our_logits(model), peft_logits(toy, lora), **CLOSE)


def test_the_name_of_a_loras_base_is_shown_in_one_line(toy: Path, tmp_path: Path) -> None:
    lora, out = save_lora(tmp_path / "lora", toy), tmp_path / "t.safetensors"
    config = json.loads((lora / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = "\x1b]0;OWNED\x07good\nuse it with --model evil\r"
    (lora / "adapter_config.json").write_text(json.dumps(config))
    lines = run("import", "peft", lora, out, "--model", toy).stdout.splitlines()
    assert len(lines) == 3
    assert lines[1].endswith("trained on ␛]0;OWNED␇good use it with --model evil")
    assert lines[1].isprintable()


def test_a_model_is_exported(toy: Path, tmp_path: Path) -> None:
    result = run("export", "hf", tmp_path / "out", "--model", toy)
    assert result.exit_code == ExitCode.OK, result.stderr
    assert "38 tensors in float32" in result.stdout
    assert plain_logits(tmp_path / "out").equal(plain_logits(toy))


def test_a_model_is_exported_for_llama_cpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "toy.gguf"
    write_gguf(source, toy_model("qwen2", is_tied=True), ToyGguf(architecture="qwen2"))
    out = tmp_path / "out" / "again.gguf"
    result = run("export", "gguf", out, "--model", source)
    assert result.exit_code == ExitCode.OK, result.stderr
    assert result.stdout.startswith(f"{out}: toy, 26 tensors, matrices in bfloat16 (")
    assert our_logits(str(out)).equal(our_logits(str(source)))


def test_wrong_calls_are_answered_with_one_line(toy: Path, tmp_path: Path) -> None:
    lora = save_lora(tmp_path / "lora", toy, use_dora=True)
    tuning = save_tuning(tmp_path / "own" / "t.safetensors", toy)
    (tmp_path / "taken").write_text("")
    cases = [
        (("import", "peft", lora, "out", "--model", toy), "does not end in .safetensors", 2),
        (("import", "peft", lora, "o.safetensors", "--model", toy), "it is a DoRA", 4),
        (("import", "peft", lora, "o.safetensors", "--model", f"{toy}+{tuning}"), "already has", 2),
        (("export", "peft", "out", "--model", toy), "has no tuning to export", 2),
        (("export", "peft", tmp_path / "taken", "--model", f"{toy}+{tuning}"), "exists", 5),
        (("export", "hf", tmp_path / "taken", "--model", toy), "exists", 5),
        (("export", "hf", "out", "--model", tmp_path), "is not a model's folder", 4),
        (("export", "gguf", "out", "--model", toy), "does not end in .gguf", 2),
        (("export", "gguf", "out.gguf", "--model", toy), "was not converted from a GGUF file", 4),
    ]
    for arguments, said, code in cases:
        result = run(*arguments)
        assert result.exit_code == code, result.stderr
        assert said in result.stderr
        assert result.stderr.count("\n") == 1
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.slow
@pytest.mark.model
def test_the_bundled_tuning_comes_back_as_it_was(tmp_path: Path) -> None:
    row = find_model(DEFAULT_MODEL)
    assert row is not None and row.tuning is not None
    result = run("export", "peft", tmp_path / "lora")
    assert result.exit_code == ExitCode.OK, result.stderr
    assert "rank 16 for 168 layers of Qwen/Qwen2.5-Coder-0.5B-Instruct" in result.stdout
    back = tmp_path / "own" / "t.safetensors"
    result = run("import", "peft", tmp_path / "lora", back)
    assert result.exit_code == ExitCode.OK, result.stderr
    assert f"--model {DEFAULT_MODEL}+none+{back}" in result.stdout
    bundled, own = load_file(row.tuning), load_file(back)
    assert bundled.keys() == own.keys()
    assert all(torch.equal(tensor, own[name]) for name, tensor in bundled.items())
    result = run("export", "peft", tmp_path / "none", "--only-own")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "has no tuning to export" in result.stderr
    model = f"{DEFAULT_MODEL}+{back}"
    result = run("export", "peft", tmp_path / "both", "--model", model, "--base-model", "mine")
    assert "rank 32 for 168 layers of mine" in result.stdout
