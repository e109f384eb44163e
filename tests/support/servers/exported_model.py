"""Our models in the formats of other engines, written by `intarsia export` itself."""

from pathlib import Path

from command_line import run

from intarsia.cli.errors import ExitCode


def exported(kind: str, out: Path, model: str) -> Path:
    result = run("export", kind, out, "--model", model)
    assert result.exit_code == ExitCode.OK, result.stderr
    return out
