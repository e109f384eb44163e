"""``intarsia doctor``: what is well, what is missing, and what to do about it."""

import asyncio
import json
import os
import re
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from command_line import run
from in_process_engine import always, in_process_engine
from rule_filler import RuleFiller

from intarsia.cli import doctor
from intarsia.cli.doctor import (
    CHECKS,
    TorchProbe,
    check_cache,
    check_conversion,
    check_engine,
    check_gemma,
    check_model,
    check_reading_speed,
    check_runtime_folder,
    probe_torch,
)
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, find_model
from intarsia.engine.model_store.gguf.convert import seal_conversion
from intarsia.engine.model_store.locate import catalog_folder


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_doctor_names_what_is_missing_and_changes_nothing(empty_cache: Path, address: Address):
    result = run("doctor")
    assert result.exit_code == 1
    assert f"missing model       {DEFAULT_MODEL} is not downloaded" in result.stdout
    assert "→ run `intarsia pull`" in result.stdout
    assert "ok      languages" in result.stdout
    assert list(empty_cache.iterdir()) == []
    assert list(address.directory.iterdir()) == []


def test_doctor_as_json_has_one_object_a_check(empty_cache: Path):
    findings = [json.loads(line) for line in run("doctor", "--json").stdout.splitlines()]
    assert len(findings) == len(CHECKS)
    for finding in findings:
        assert finding.keys() == {"name", "state", "found", "advice"}
        assert (finding["state"] == "ok") or finding["advice"]


def test_a_damaged_model_is_found_out(empty_cache: Path):
    model = find_model(DEFAULT_MODEL)
    (empty_cache / "models").mkdir()
    (empty_cache / "models" / model.file_name).write_bytes(b"GGUF")
    finding = check_model()
    assert finding.state == "missing"
    assert "damaged" in finding.found


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_cache_that_others_may_write_is_named_with_the_remedy(empty_cache: Path):
    assert check_cache().state == "ok"
    empty_cache.chmod(0o777)
    finding = check_cache()
    assert finding.state == "missing"
    assert finding.found == f"{empty_cache} can be written by other users"
    assert str(finding.advice).startswith(f"run chmod go-w {empty_cache}, or set INTARSIA_CACHE")


def test_a_conversion_that_was_not_made_here_is_noted(empty_cache: Path):
    assert check_conversion().state == "ok"
    model = find_model(DEFAULT_MODEL)
    folder = catalog_folder(model, model.tuning)
    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (folder / name).write_text("{}")
    finding = check_conversion()
    assert finding.state == "note"
    assert "not converted here" in finding.found
    seal_conversion(folder, name=folder.name)
    assert check_conversion().state == "ok"


@pytest.mark.parametrize("python_path", ["", ":/none"])
def test_the_torch_probe_works_in_no_folder_of_the_users(tmp_path, monkeypatch, python_path):
    """An empty part of PYTHONPATH is the working folder: -P does not take it away."""
    (tmp_path / "torch.py").write_text("raise SystemExit('hostile')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", python_path)
    probe = probe_torch()
    assert (probe.error, bool(probe.said)) == ("", True)


def test_a_torch_that_does_not_start_is_told_with_its_last_words(monkeypatch: pytest.MonkeyPatch):
    broken = TorchProbe(error="libgomp.so.1: cannot open shared object file")
    monkeypatch.setattr(doctor, "probe_torch", lambda: broken)
    finding = doctor.check_torch()
    assert finding.state == "missing"
    assert "libgomp" in finding.found


def test_without_torch_nothing_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor, "version", _not_installed)
    for check in (doctor.check_torch, check_gemma):
        finding = check()
        assert finding.state == "ok"
        assert "torch" in finding.found


def _not_installed(name: str) -> str:
    raise PackageNotFoundError(name)


def test_where_diffusiongemma_would_run_is_told_with_the_reason(monkeypatch: pytest.MonkeyPatch):
    """By a process of its own, on this machine: it may have no room."""
    finding = check_gemma()
    assert finding.found.startswith("DiffusionGemma ")
    assert re.search(r"format: .+, as \d+\.\d GiB are free|needs \d+\.\d GiB", finding.found)
    monkeypatch.setattr(doctor, "probe_torch", lambda *_: TorchProbe(error="broken"))
    assert check_gemma().found == "torch does not start"


async def test_of_one_that_runs_its_own_reasons_are_told(address: Address):
    filler = RuleFiller(lambda _: "1", name="gemma")
    notes = "device: cuda, as an NVIDIA card goes first", "format: four bits"
    filler.info = replace(filler.info, family="diffusion_gemma", notes=notes)
    async with (
        in_process_engine(address, always(filler)),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        await client.fill(Fill(id=0, prefix="x", suffix=""))
        finding = await asyncio.to_thread(check_gemma)
    assert finding.found == f"gemma: {'; '.join(notes)}"


def test_a_runtime_folder_that_is_open_to_others_is_missing(address: Address):
    address.directory.chmod(0o755)
    finding = check_runtime_folder()
    assert finding.state == "missing"
    assert finding.advice is not None
    assert "0700" in finding.advice
    address.directory.chmod(0o700)
    assert check_runtime_folder().state == "ok"


def test_an_engine_that_does_not_run_is_no_fault():
    assert check_engine().state == "ok"


def test_an_engine_that_runs_is_named_and_what_it_runs(start_engine, monkeypatch):
    start_engine()
    assert "idle, no model loaded yet" in check_engine().found
    monkeypatch.setenv("INTARSIA_CACHE_DIR", "/elsewhere")
    finding = check_engine()
    assert finding.state == "note" and finding.found.endswith(", not in /elsewhere")
    assert "`intarsia stop`" in str(finding.advice)


def test_the_format_that_was_chosen_for_a_model_is_told(start_engine):
    start_engine(model="small")

    async def preload() -> None:
        async with EngineClient(name="test", start=False) as client:
            await client.preload(None)

    asyncio.run(preload())
    assert "ready, small (none on cpu)" in check_engine().found


def test_the_reading_speed_and_its_budget_are_shown(address: Address):
    assert check_reading_speed().found == (
        "up to 500 tokens of other files before a hole (speed not measured yet)"
    )


async def test_the_engine_measures_it(address: Address):
    filler = RuleFiller(lambda _: "1", tokens_per_s=1_200.0)
    async with (
        in_process_engine(address, always(filler)),
        EngineClient(name="test", start=False, address=address) as client,
    ):
        assert (await client.status()).prefill_tokens_per_s is None
        await client.fill(Fill(id=0, prefix="x", suffix=""))
        assert (await client.status()).prefill_tokens_per_s == 1_200.0
        finding = await asyncio.to_thread(check_reading_speed)
    assert finding.found == "1,200 tokens a second; up to 1,080 tokens of other files before a hole"
