"""A backbone is run by the int8 kernels, which need no torch, unless something asks for torch."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from toy_causal import located

from intarsia.engine import config
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone import int8_backbone, int8_weights, load
from intarsia.engine.families.masked_causal.backbone.interface import LoadedBackbone
from intarsia.engine.families.masked_causal.backbone.shape import read_shape

in_int8 = pytest.mark.skipif(
    not int8_backbone.is_int8_supported(), reason="this processor has no int8 dot product"
)


def load_toy(toy: Path, dtype="auto", device="auto"):
    folder = located(str(toy))
    return load.load_backbone(folder, read_shape(folder.config), dtype, device)


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr(load, "find_spec", lambda name: None)


@in_int8
@pytest.mark.parametrize("dtype", ["auto", "int8"])
@pytest.mark.parametrize("device", ["auto", "cpu"])
@pytest.mark.usefixtures("without_torch")
def test_a_processor_computes_in_int8_without_torch(dtype, device, toy):
    loaded = load_toy(toy, dtype, device)
    assert (loaded.format_name, loaded.device) == ("int8", "cpu")


@pytest.mark.usefixtures("without_torch")
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"dtype": "float32"}, "`--dtype` is float32"),
        ({"device": "cuda"}, "it is for the CPU, not for cuda"),
    ],
)
def test_what_needs_torch_says_how_to_install_it(options, reason, toy):
    settings = {"dtype": "auto", "device": "auto"} | options
    for act in (partial(load_toy, toy), load.conversion_for):  # before a file is converted, too
        with pytest.raises(ModelError, match="torch is not installed: pip install") as refused:
            act(**settings)
        assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--dtype", "float32"), "--dtype float32 needs torch"),
        (("--device", "cuda", "--dtype", "bfloat16"), "--dtype bfloat16 and --device cuda needs"),
        (("--device", "cpu", "--dtype", "int8"), None),
    ],
)
def test_an_engine_that_would_need_torch_does_not_start_without_it(
    flags, said, monkeypatch, capsys
):
    monkeypatch.setattr(config, "find_spec", lambda name: None)
    if said is None:
        assert config.parse_arguments(flags).dtype == "int8"
        return
    with pytest.raises(SystemExit):
        config.parse_arguments(flags)
    assert f"{said}" in (error := capsys.readouterr().err)
    assert "pip install 'intarsia[torch]'" in error


def test_a_named_number_format_is_computed_by_torch(toy):
    assert load_toy(toy, "float32", "cpu").format_name == "float32"


@in_int8
def test_int8_is_for_a_cpu_with_the_instructions_and_heads_that_fill_vectors(toy, monkeypatch):
    with pytest.raises(ModelError, match="int8 cannot run here: it is for the CPU"):
        load_toy(toy, "int8", "cuda")
    with monkeypatch.context() as patch, pytest.raises(ModelError, match="of 16 numbers do not"):
        patch.setattr(int8_weights, "num_lanes", lambda: 5)
        load_toy(toy, "int8")
    monkeypatch.setattr(load, "is_int8_supported", lambda: False)
    with pytest.raises(ModelError, match="nor dot products of bytes"):
        load_toy(toy, "int8")


def test_a_failing_compiler_rules_out_int8_but_not_the_load(toy, monkeypatch):
    def fails() -> bool:
        raise OSError("no space left")

    monkeypatch.setattr(load, "is_int8_supported", fails)
    assert load_toy(toy, device="cpu").format_name in ("float32", "bfloat16")
    with pytest.raises(ModelError, match=r"cannot be compiled here.*no space left"):
        load_toy(toy, "int8")


@in_int8
@pytest.mark.parametrize(
    ("has_driver", "found", "format_name"),
    [(False, "cuda", "int8"), (True, "cpu", "int8"), (True, "mps", "float32")],
)
def test_torch_is_asked_for_a_gpu_only_where_there_is_a_driver(
    has_driver, found, format_name, toy, monkeypatch
):
    torch = load._torch()
    monkeypatch.setattr(load, "may_have_gpu", lambda: has_driver)
    monkeypatch.setattr(torch, "device_for", lambda device: found)
    loads = []

    def load_with_torch(*given, **_):
        loads.append(given[2:])
        return LoadedBackbone(backbone=None, device=found, format_name="float32")

    monkeypatch.setattr(torch, "load_with_torch", load_with_torch)
    assert load_toy(toy).format_name == format_name
    assert loads == ([] if format_name == "int8" else [("auto", "auto")])


@in_int8
def test_a_fill_imports_no_torch_and_leaves_the_cores_to_the_passes(toy: Path, drafter: Path):
    program = """
import os
import sys
from pathlib import Path
from intarsia.engine.config import EngineConfig
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.service.load_filler import load_filler
_, folder, drafter = sys.argv
filler = load_filler(EngineConfig(model=folder, drafter=Path(drafter)), folder, print)
fill = Fill(id=1, prefix="def f(", suffix="):", max_tokens=9, num_candidates=3)
print(filler.fill(fill, NO_CONTROL).num_forwards > 0)
print(sorted({"torch", "transformers"} & sys.modules.keys()))
print(os.environ["OPENBLAS_NUM_THREADS"])
"""
    command = [sys.executable, "-c", program, str(toy), str(drafter)]
    environment = {name: it for name, it in os.environ.items() if "THREADS" not in name}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines()[-3:] == ["True", "[]", "1"], done.stderr
