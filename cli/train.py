"""``intarsia train``: weights from a corpus or from the user's own code, on this machine."""

from collections.abc import Sequence

import click

from intarsia.cli.switches import debug_option
from intarsia.cli.train_corpus import adapter, tuning
from intarsia.cli.train_repository import repo
from intarsia.engine.native_libraries import spin_briefly


class _TrainGroup(click.Group):
    """``train --repo PATH`` is a short way to write ``train repo PATH``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _written_out(args))


def _written_out(words: Sequence[str]) -> list[str]:
    for place, word in enumerate(words):
        name, _, path = word.partition("=")
        if name == "--repo":
            return ["repo", *words[:place], *([path] if path else []), *words[place + 1 :]]
    return [*words]


@click.group("train", cls=_TrainGroup, subcommand_metavar="adapter|tuning|--repo PATH [OPTIONS]")
@debug_option
def command() -> None:
    """Train weights on this machine. Nothing leaves it.

    \b
    intarsia train --repo .                      your own code
    intarsia train adapter --corpus F --out R    the gated adapter of a model
    intarsia train tuning --corpus F --out R     a model's backbone itself

    Ctrl-C ends a run in good order; the same command goes on with it.
    """
    spin_briefly()


command.add_command(adapter)
command.add_command(tuning)
command.add_command(repo)
