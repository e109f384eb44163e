"""Energy is read from files as Linux has them below /sys/class/powercap."""

from pathlib import Path

from intarsia_research.benchmark.machine_energy import energy_meter


def package(folder: Path, name: str, microjoules: int) -> Path:
    path = folder / name
    path.mkdir()
    (path / "max_energy_range_uj").write_text("10000000\n")
    (path / "energy_uj").write_text(f"{microjoules}\n")
    return path / "energy_uj"


def test_all_packages_are_summed_and_their_parts_are_not(tmp_path: Path):
    first = package(tmp_path, "intel-rapl:0", 1_000_000)
    second = package(tmp_path, "intel-rapl:1", 2_000_000)
    part = package(tmp_path, "intel-rapl:0:0", 0)
    meter = energy_meter(tmp_path)
    assert meter is not None
    first.write_text("1500000")
    second.write_text("5000000")
    part.write_text("9000000")
    assert meter.joules() == 3.5
    assert meter.joules() == 0


def test_a_counter_that_has_begun_anew_goes_on(tmp_path: Path):
    counter = package(tmp_path, "intel-rapl:0", 9_000_000)
    meter = energy_meter(tmp_path)
    assert meter is not None
    counter.write_text("500000")
    assert meter.joules() == 1.5


def test_a_machine_without_counters_has_no_meter(tmp_path: Path):
    assert energy_meter(tmp_path) is None
    assert energy_meter(tmp_path / "missing") is None
    (tmp_path / "intel-rapl:0").mkdir()
    assert energy_meter(tmp_path) is None
