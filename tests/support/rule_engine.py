"""A real engine with a RuleFiller as its model: ``python rule_engine.py --text TEXT``.

Only the model differs from the product. In a test, ``rule_engine_launch(...)`` gives a client the
command that starts one. Any further flags are the engine's own.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

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


def rule_engine_command(
    *,
    text: str = "",
    rules: Sequence[tuple[str, str]] = (),
    step_seconds: float = 0,
    num_steps: int | None = None,
    load_seconds: float = 0,
    unsure: Sequence[str] = (),
    next_edits: Sequence[Mapping[str, object]] | None = None,
    likely: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """Return the command of an engine that fills by rules, or with ``text`` if no rule matches.

    ``rules`` are pairs (end of the prefix, text); the first match is used. ``{alternative}`` in a
    text becomes the request's number, ``{project}`` the code of other files that is used, and
    ``{digest}`` the digest of all that the request knows of the document. The texts of
    ``engine_faults`` break the engine during the fill.
    A model named ``missing…`` fails with ModelError, one named ``huge…`` with MemoryError.
    ``unsure`` are words that get little confidence. ``next_edits`` are the rules of
    ``scripted_next_edits``; without them the model cannot find any. ``likely`` texts gain in
    scores; without them the model cannot score.
    """
    options = {"--text": text, "--rules": json.dumps(list(rules)), "--step-seconds": step_seconds}
    options |= {"--load-seconds": load_seconds, "--unsure": json.dumps(list(unsure))}
    if next_edits is not None:
        options["--next-edits"] = json.dumps([dict(rule) for rule in next_edits])
    if likely is not None:
        options["--likely"] = json.dumps(list(likely))
    if num_steps is not None:
        options["--num-steps"] = num_steps
    flags = [f"{flag}={value}" for flag, value in options.items()]
    return (sys.executable, __file__, *flags)


def rule_engine_launch(
    *, idle_timeout_s: float | None = 60, model: str | None = None, **options: object
) -> LaunchOptions:
    """Return the options with which a client starts such an engine.

    ``options`` are the arguments of ``rule_engine_command``.
    """
    return LaunchOptions(
        command=rule_engine_command(**options),  # type: ignore[arg-type]
        idle_timeout_s=idle_timeout_s,
        model=model,
        start_timeout_s=30,
    )


def read_arguments(arguments: Sequence[str]) -> tuple[EngineConfig, LoadFiller]:
    """Return the config and the model of an engine with these flags."""
    own, others = _own_arguments().parse_known_args(arguments)

    def load(config: EngineConfig, model: str, on_progress: Progress) -> RuleFiller:
        check_model(config, model, on_progress)
        _pretend_to_load(model, own.load_seconds, on_progress)
        rules = _rules(own.text, json.loads(own.rules))
        return RuleFiller(
            rules,
            own.step_seconds,
            num_steps=own.num_steps,
            unsure=json.loads(own.unsure),
            name=model,
            find=None if own.next_edits is None else find_by_rules(json.loads(own.next_edits)),
            likely=None if own.likely is None else json.loads(own.likely),
        )

    return parse_arguments(others), load


def main() -> int:
    """Run such an engine; return its exit code."""
    config, load = read_arguments(sys.argv[1:])
    return run_engine(config, foreground=False, load_filler=load, check_model=check_model)


def _own_arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--text", default="")
    parser.add_argument("--rules", default="[]")
    parser.add_argument("--step-seconds", type=float, default=0)
    parser.add_argument("--num-steps", type=int)
    parser.add_argument("--load-seconds", type=float, default=0)
    parser.add_argument("--unsure", default="[]")
    parser.add_argument("--next-edits")
    parser.add_argument("--likely")
    return parser


def _rules(text: str, rules: Sequence[tuple[str, str]]) -> Callable[[Fill], str]:
    def write(request: Fill) -> str:
        answer = next((rule_text for end, rule_text in rules if request.prefix.endswith(end)), text)
        break_engine(answer)
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
