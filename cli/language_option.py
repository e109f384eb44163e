"""The option ``--language`` of commands that read one file."""

import click

from intarsia.infill.languages import LANGUAGES, PLAIN_TEXT, Language, language_for_id


def _read_language(ctx: click.Context, _: click.Parameter, name: str | None) -> Language | None:
    if name is None:
        return None
    language = language_for_id(name)
    if language is PLAIN_TEXT and name.lower() != PLAIN_TEXT.id:
        known = ", ".join(row.id for row in LANGUAGES)
        raise click.BadParameter(f"{name!r} is unknown; known are {known} and {PLAIN_TEXT.id}")
    return language


language_option = click.option(
    "--language",
    metavar="NAME",
    callback=_read_language,
    help="The language id, as in editors.  [default: by the file's name]",
)
