"""Device and number format by what the machine has."""

import pytest
import torch

from intarsia.engine.config import Device
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import choose_device, choose_dtype, free_bytes
from intarsia.engine.families.memory import free_memory, require_memory
from intarsia.engine.families.protocol import ReadingSpeed, Stopwatch

_CPU = torch.device("cpu")


def having(patch: pytest.MonkeyPatch, *, cuda: bool = False, mps: bool = False) -> None:
    patch.setattr(torch.cuda, "is_available", lambda: cuda)
    patch.setattr(torch.backends.mps, "is_available", lambda: mps)


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]
)
def test_auto_takes_the_fastest(cuda: bool, mps: bool, chosen: str, monkeypatch):
    having(monkeypatch, cuda=cuda, mps=mps)
    assert choose_device("auto").type == chosen
    assert choose_device("cpu").type == "cpu"


@pytest.mark.parametrize(("wanted", "name"), [("cuda", "CUDA"), ("mps", "Apple")])
def test_a_device_that_is_not_there_is_said(wanted: Device, name: str, monkeypatch):
    having(monkeypatch)
    with pytest.raises(ModelError, match=f"no {name}.*leave `--device` out"):
        choose_device(wanted)


@pytest.mark.parametrize("avx", [True, False])
@pytest.mark.parametrize("amx", [True, False])
def test_bfloat16_is_run_only_where_it_can_be(avx: bool, amx: bool, monkeypatch):
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: avx)
    expected = torch.bfloat16 if avx or amx else torch.float32
    assert choose_dtype("auto", _CPU) == expected
    assert choose_dtype("auto", torch.device("mps")) == torch.float32
    on_gpu = torch.bfloat16 if avx else torch.float32
    assert choose_dtype("auto", torch.device("cuda")) == on_gpu
    assert choose_dtype("bfloat16", _CPU) == torch.bfloat16, "a named format is taken"


def test_memory_on_the_gpu_is_the_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2**30, 2**34))
    free = free_bytes(torch.device("cuda"))
    require_memory(2**30, free, "m")
    with pytest.raises(ModelError, match=r"m needs 2\.0 GiB of memory, 1\.0 GiB are free"):
        require_memory(2**31, free, "m")


def test_no_machine_has_all_memory() -> None:
    require_memory(1, free_memory(), "m")
    with pytest.raises(ModelError, match="take a smaller model"):
        require_memory(2**60, free_memory(), "m")


@pytest.mark.parametrize(
    ("read", "tokens_per_s"),
    [
        ([(63, 0.1)], None),
        ([(63, 0.1), (64, 0.1)], 640),
        ([(1_000, seconds) for seconds in (1.0, 1.1, 30.0, 0.9, 1.0)], 1_000),
        ([(1_000, seconds) for seconds in [1.0] * 50 + [2.0] * 5], 500),
    ],
)
def test_the_speed_is_that_of_long_prefills_of_late(read, tokens_per_s):
    speed = ReadingSpeed()
    for num_tokens, seconds in read:
        speed.add(num_tokens, seconds)
    assert speed.tokens_per_s == (tokens_per_s and pytest.approx(tokens_per_s))


@pytest.mark.parametrize(
    ("num_missing", "num_missing_without", "is_worth"),
    [(60, 0, True), (61, 0, False), (560, 500, True), (561, 500, False), (0, 0, True)],
)
def test_sixty_milliseconds_of_reading_may_be_added(num_missing, num_missing_without, is_worth):
    speed = ReadingSpeed()
    speed.add(1_000, 1.0)
    assert speed.is_worth_reading(num_missing, num_missing_without) == is_worth


def test_time_between_laps_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 1.0, 50.0, 52.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(now))
    watch = Stopwatch(lambda: None)
    for _ in range(2):
        with watch.lap():
            pass
    assert watch.seconds == 3.0
