"""Device and number format by what the machine has."""

import pytest
import torch

from intarsia.engine.config import Device
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import (
    choose_device,
    choose_dtype,
    require_memory,
)

_CPU = torch.device("cpu")


def having(patch: pytest.MonkeyPatch, *, cuda: bool = False, mps: bool = False) -> None:
    patch.setattr(torch.cuda, "is_available", lambda: cuda)
    patch.setattr(torch.backends.mps, "is_available", lambda: mps)


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"),
    [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_auto_takes_the_fastest(
    cuda: bool, mps: bool, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    having(monkeypatch, cuda=cuda, mps=mps)
    assert choose_device("auto").type == chosen
    assert choose_device("cpu").type == "cpu"


@pytest.mark.parametrize(("wanted", "name"), [("cuda", "CUDA"), ("mps", "Apple")])
def test_a_device_that_is_not_there_is_said(
    wanted: Device, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    having(monkeypatch)
    with pytest.raises(ModelError, match=f"no {name}.*leave `--device` out"):
        choose_device(wanted)


def test_a_named_format_is_taken() -> None:
    assert choose_dtype("bfloat16", _CPU) == torch.bfloat16
    assert choose_dtype("float32", torch.device("cuda")) == torch.float32


@pytest.mark.parametrize("avx", [True, False])
@pytest.mark.parametrize("amx", [True, False])
def test_a_cpu_runs_bfloat16_only_where_it_can(
    avx: bool, amx: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    expected = torch.bfloat16 if avx or amx else torch.float32
    assert choose_dtype("auto", _CPU) == expected
    assert choose_dtype("auto", torch.device("mps")) == torch.float32


@pytest.mark.parametrize("is_supported", [True, False])
def test_a_gpu_runs_bfloat16_only_where_it_can(
    is_supported: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: is_supported)
    expected = torch.bfloat16 if is_supported else torch.float32
    assert choose_dtype("auto", torch.device("cuda")) == expected


def test_memory_on_the_gpu_is_the_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2**30, 2**34))
    require_memory(2**30, torch.device("cuda"), "m")
    with pytest.raises(ModelError, match=r"m needs 2\.0 GiB of memory, 1\.0 GiB are free"):
        require_memory(2**31, torch.device("cuda"), "m")


def test_no_machine_has_all_memory() -> None:
    require_memory(1, _CPU, "m")
    with pytest.raises(ModelError, match="take a smaller model"):
        require_memory(2**60, _CPU, "m")
