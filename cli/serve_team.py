"""Runs a team's engine with the options of ``intarsia team serve``."""

from typing import Any

from intarsia.cli.errors import CliError
from intarsia.engine.config import EngineConfig
from intarsia.engine.team.quotas import TeamLimits
from intarsia.engine.team.serve import TeamError, TeamOptions, run_team_engine


def run(**flags: Any) -> None:
    """Serve until Ctrl-C or SIGTERM. Raise CliError where the options do not fit."""
    limits = TeamLimits(
        **{name: flags.pop(name) for name in ("max_in_flight", "per_minute", "max_waiting")}
    )
    settings = ("model", "device", "dtype", "cache_tokens")
    try:
        config = EngineConfig(**{name: flags.pop(name) for name in settings})
        run_team_engine(config, TeamOptions(limits=limits, **flags))
    except (TeamError, ValueError) as error:
        raise CliError(str(error)) from error
