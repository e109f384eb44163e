"""A real engine with a RuleFiller as its model: ``python rule_engine.py --options JSON``.

Only the model differs from the product. In a test, ``rule_engine_launch(...)`` gives a client the
command that starts one. Any further flags are the engine's own.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from faults.engine_faults import break_engine, digest_of
from rule_filler import RuleFiller, project_text
from scripted_next_edits import find_by_rules

from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig, parse_arguments
from intarsia.engine.errors import ModelError
from intarsia.engine.ipc.launch import LaunchOptions
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.service.model_slot import LoadFiller
from intarsia.engine.service.process import run_engine

__all__ = [
    "RuleFiller",
    "check_model",
    "read_arguments",
    "rule_engine_command",
    "rule_engine_launch",
]


def rule_engine_command(**options: Any) -> tuple[str, ...]:
    """Return the command of an engine that fills by rules, or with ``text`` if no rule matches.

    ``rules`` are pairs (end of the prefix, text); the first match is used. ``{alternative}`` in a
    text becomes the request's number, ``{name}`` the first of its names, ``{project}`` the code of
    other files that is used, and ``{digest}`` the digest of all that the request knows of the
    document. The texts of ``engine_faults`` break the engine during the fill.
    A model named ``missing…`` fails with ModelError, one named ``huge…`` with MemoryError, any
    after ``load_seconds``. ``next_edits`` are the rules of ``scripted_next_edits``; without them
    the model cannot find any. The others are options of ``RuleFiller``.
    """
    _loader(**options)
    return (sys.executable, __file__, f"--options={json.dumps(options)}")


def rule_engine_launch(
    *, idle_timeout_s: float | None = 60, model: str | None = None, **options: object
) -> LaunchOptions:
    """Return the options with which a client starts such an engine.

    ``options`` are the arguments of ``rule_engine_command``.
    """
    return LaunchOptions(
        command=rule_engine_command(**options),
        idle_timeout_s=idle_timeout_s,
        model=model,
        start_timeout_s=30,
    )


def read_arguments(arguments: Sequence[str]) -> tuple[EngineConfig, LoadFiller]:
    """Return the config and the model of an engine with these flags."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--options", type=json.loads, default={})
    own, others = parser.parse_known_args(arguments)
    return parse_arguments(others), _loader(**own.options)


def _loader(
    *,
    text: str = "",
    rules: Sequence[tuple[str, str]] = (),
    load_seconds: float = 0,
    next_edits: Sequence[Mapping[str, object]] | None = None,
    **options: Any,
) -> LoadFiller:
    find = None if next_edits is None else find_by_rules(next_edits)
    RuleFiller(_rules(text, rules), **options)  # an option that there is not fails here

    def load(config: EngineConfig, model: str, on_progress: Progress) -> RuleFiller:
        check_model(config, model, on_progress)
        _pretend_to_load(model, load_seconds, on_progress)
        return RuleFiller(_rules(text, rules), name=model, find=find, **options)

    return load


def main() -> int:
    config, load = read_arguments(sys.argv[1:])
    return run_engine(config, foreground=False, load_filler=load, check_model=check_model)


def _rules(text: str, rules: Sequence[tuple[str, str]]) -> Callable[[Fill], str]:
    def write(request: Fill) -> str:
        answer = next((rule_text for end, rule_text in rules if request.prefix.endswith(end)), text)
        break_engine(answer)
        answer = answer.replace("{name}", next(iter(request.names), "guessed"))
        answer = answer.replace("{project}", project_text(request))
        answer = answer.replace("{digest}", digest_of(request.prefix + request.given))
        return answer.replace("{alternative}", str(request.alternative))

    return write


def check_model(config: EngineConfig, model: str, on_progress: Progress) -> None:
    """Raise ModelError for a model that is missing by its name."""
    if Path(model).name.startswith("missing"):
        raise ModelError(f"no model {model!r}: run `intarsia pull`, or name a folder")


def _pretend_to_load(model: str, seconds: float, on_progress: Progress) -> None:
    if Path(model).name.startswith("huge"):
        raise MemoryError
    num_parts = 10
    for part in range(num_parts):
        on_progress("loading", part / num_parts)
        time.sleep(seconds / num_parts)
    on_progress("loading", 1.0)


if __name__ == "__main__":
    sys.exit(main())
