"""`make fuzz`: Atheris feeds property tests of Hypothesis, each in a process of its own.

Coverage of our code guides it. Inputs that reach something new are kept in build/fuzz/TARGET, and
what fails in build/fuzz/findings: `fuzz.py TARGET FILE` checks it again. The exit code is 1 if
something was found now.
"""

import argparse
import logging
import os
import subprocess
import sys
import tomllib
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "build" / "fuzz"
PYTHON = BUILT / "env" / "bin" / "python"
COUNTED = ["intarsia", "pygls.io_", "pygls.protocol", "gguf.gguf_reader", "h11"]
NUM_BEGINNINGS, MAX_BYTES = 20, 4_096

TARGETS = {
    "edits": "tests/lsp/documents/test_documents.py::test_the_text_is_that_of_the_slow_reference",
    "cursors": "tests/infill/test_infill_properties.py::test_any_cursor_in_any_text",
    "ranges": "tests/infill/test_infill_properties.py::test_any_range_in_any_text",
    "positions": "tests/fuzz/test_editor_input.py::test_positions_are_those_of_the_slow_reference",
    "sessions": "tests/fuzz/test_editor_input.py::test_the_server_has_the_texts_of_its_client",
    "messages": "tests/fuzz/test_editor_input.py::test_each_request_is_answered_once",
    "settings": "tests/fuzz/test_editor_input.py::test_any_settings_become_valid_ones",
    "frames": "tests/fuzz/test_frames.py::test_good_frames_before_any_bytes_are_read",
    "engine_frames": "tests/fuzz/test_frames.py::test_good_messages_before_any_bytes_are_read",
    "gguf": "tests/fuzz/test_model_files.py::test_a_gguf_file_is_read_or_refused",
    "safetensors": "tests/fuzz/test_model_files.py::test_a_safetensors_header_is_read_or_refused",
    "model_folder": "tests/fuzz/test_model_files.py::test_a_model_folder_is_read_or_refused",
    "events": "tests/fuzz/test_remote_answers.py::test_an_answer_says_the_same_in_any_pieces",
    "http": "tests/fuzz/test_remote_answers.py::test_any_http_is_an_answer_or_an_error_of_one_line",
    "grammars": "tests/fuzz/test_files.py::test_a_text_just_within_its_bounds_crashes_no_grammar",
    "secrets": "tests/fuzz/test_files.py::test_secrets_are_excluded_whatever_the_rules",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=300, help="for each target")
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    options = parser.parse_args()
    names = options.targets or list(TARGETS)
    (BUILT / "findings").mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(lambda name: _run(name, options.seconds, options.seed), names))
    for name, code in zip(names, ended, strict=True):
        print(f"{name}: {'well' if code == 0 else f'see build/fuzz/{name}.log'}")
    return int(any(ended))


def _run(name: str, seconds: int, seed: int) -> int:
    corpus = BUILT / name
    corpus.mkdir(exist_ok=True)
    for number in range(NUM_BEGINNINGS):  # Hypothesis passes over inputs that are too short
        beginning = Random(f"{name} {number}").randbytes(MAX_BYTES)
        (corpus / f"beginning-{number}").write_bytes(beginning)
    limits = [f"-max_total_time={seconds}", f"-seed={seed}", "-timeout=20", "-rss_limit_mb=4096"]
    kept = [
        f"-artifact_prefix={BUILT / 'findings' / name}.",
        f"-max_len={MAX_BYTES}",
        "-len_control=0",
    ]
    command = [str(PYTHON), __file__, "--one", name, *limits, *kept, str(corpus)]
    with corpus.with_suffix(".log").open("wb") as log:
        return subprocess.run(command, stdout=log, stderr=log).returncode


def fuzz_one(name: str, options: list[str]) -> None:
    """Fuzz one target in this process: ``options`` are libFuzzer's."""
    import atheris

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = settings["tool"]["pytest"]["ini_options"]["pythonpath"]
    sys.path[:0] = [str(ROOT / folder) for folder in folders]
    warnings.simplefilter("ignore")
    logging.disable()  # what is refused is logged: millions of lines
    with atheris.instrument_imports(include=COUNTED):
        test = load(name)
    atheris.Setup([sys.argv[0], *options], test.hypothesis.fuzz_one_input)
    atheris.Fuzz()


def load(name: str) -> Any:
    path, _, function = TARGETS[name].partition("::")
    spec = spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, function)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        fuzz_one(sys.argv[2], sys.argv[3:])
    elif len(sys.argv) == 3 and Path(sys.argv[2]).is_file():
        os.execv(PYTHON, [str(PYTHON), __file__, "--one", *sys.argv[1:]])
    else:
        sys.exit(main())
