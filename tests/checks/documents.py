"""Dead links, wrong numbers, and what a document names and does not exist: files, tests, commands.

`make lint` runs it. Commands are parsed, never run. CHANGELOG.md may name files as they were.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from intarsia.cli.command_table import cli
from intarsia.infill.languages import all_languages
from intarsia_research.commands.table import cli as laboratory

ROOT = Path(__file__).parents[2]
NOT_OURS = "research/evaluation/sets/builtin_files/"  # files of other projects

COMMAND = re.compile(
    r"^(?:\$ )?(?:\w+=\S+ )*(?:\.venv/bin/)?(make|intarsia|python -m intarsia_research)"
    r"\s+(?P<rest>\S.*)$"
)
TABLES = {"intarsia": cli, "python -m intarsia_research": laboratory}
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?: \"[^\"]*\")?\)")
CODE_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
FENCED = re.compile(r"^\s*```.*?^\s*```$", re.DOTALL | re.MULTILINE)
SOURCE_PATH = re.compile(
    r"(?<![\w/.~-])([\w-]+(?:/[\w-]+)+\.(?:py|md|svg|png|toml|txt|mk)\b)(?:::(\w+))?"
)


def tracked(*patterns: str) -> list[str]:
    """Return the files that git tracks or would add, and that are there."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = {name for name in listed.split("\0") if name and not name.startswith(NOT_OURS)}
    return sorted(name for name in names if (ROOT / name).is_file())


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def problems(document: str) -> Iterator[str]:
    path = ROOT / document
    text = text_of(path)
    spans = [" ".join(span[1].split()) for span in CODE_SPAN.findall(FENCED.sub("", text))]
    yield from (f"dead link: {target}" for target in LINK.findall(text) if is_dead(path, target))
    if path.name != "CHANGELOG.md":
        for file, name in (found for span in spans for found in SOURCE_PATH.findall(span)):
            if file.startswith("build/"):  # what a command writes
                continue
            at = next((at for at in (ROOT / file, path.parent / file) if at.exists()), None)
            if at is None:
                yield f"no such file: {file}"
            elif name and f"def {name}(" not in text_of(at):
                yield f"no such test: {file}::{name}"
    for line, is_whole in [(line, True) for line in fenced_lines(text)] + [
        (s, False) for s in spans
    ]:
        if (match := COMMAND.match(line)) and (why := misuse(match, is_whole=is_whole)):
            yield f"{line}: {why}"


def is_dead(path: Path, target: str) -> bool:
    if "://" in target:
        return False
    file, _, section = target.partition("#")
    at = path.parent / file if file else path
    return not at.exists() or bool(section and section not in anchors(at))


def anchors(path: Path) -> set[str]:
    """Return the anchors of a Markdown file's headings, as GitHub makes them."""
    lines = text_of(path).splitlines()
    titles = [line.lstrip("#").strip().lower() for line in lines if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def fenced_lines(text: str) -> Iterator[str]:
    """Yield the lines inside fenced blocks, those ending in a backslash joined with the next."""
    for block in FENCED.findall(text):
        for line in re.sub(r"\s*\\\n\s*", " ", block).splitlines():
            yield line.strip()


def misuse(match: re.Match[str], *, is_whole: bool) -> str | None:
    """Return why a command line cannot be run, None if it can.

    What is not whole, such as `intarsia fill --at`, names a command and may leave words out.
    """
    try:
        words = shlex.split(match["rest"], comments=True)
        if words[:1] == ["…"]:  # `intarsia … --model X`: an option of several commands
            return None
        if match[1] == "make":
            return unknown_target(words)
        return unknown_word(TABLES[match[1]], words, is_whole)
    except (ValueError, click.ClickException) as error:
        return str(error)


@cache
def make_targets() -> set[str]:
    texts = [text_of(path) for path in (ROOT / "Makefile", *ROOT.glob("*/*/setup.mk"))]
    named = set(re.findall(r"^([a-z][\w-]*):", "\n".join(texts), flags=re.MULTILINE))
    lists = ROOT.glob("tests/live_engines/requirements/*.txt")
    return named | {f"build/servers/{path.stem}/.ready" for path in lists}


def unknown_target(words: list[str]) -> str | None:
    targets = [word for word in words if "=" not in word]
    while targets and targets[0].startswith("-"):
        targets = targets[2:]  # -C FOLDER, -o TARGET
    unknown = set(targets) - make_targets()
    return f"no such target: {unknown}" if unknown else None


def unknown_word(table: click.Command, words: list[str], is_whole: bool) -> str | None:
    """Parse the words after a program's name by click's own table; files are not looked for."""
    command, context, words = find_command(table, words)
    try:
        values, rest, _ = command.make_parser(context).parse_args(words)
    except click.BadOptionUsage as error:
        return error.message if is_whole else None  # `intarsia fill --model`: its value is left out
    if rest:
        return f"too many words: {rest}"
    for parameter in command.params if is_whole else ():
        value = values.get(parameter.name or "")
        if isinstance(parameter.type, click.Choice) and value is not None:
            parameter.type_cast_value(context, value)
        if parameter.required and value is None:
            return f"{parameter.name} is missing"
    return None


def find_command(command, words) -> tuple[click.Command, click.Context, list[str]]:
    """Return the command that the first words name, and the words after them."""
    context = click.Context(command)
    while isinstance(command, click.Group) and words:
        if words[0].startswith("-"):
            break
        name, found, words = command.resolve_command(context, words)
        if found is None:
            raise click.UsageError(f"no such command: {name}")
        command, context = found, click.Context(found, info_name=name, parent=context)
    return command, context, words


def named_by_sources() -> Iterator[str]:
    for source in tracked("*.py"):
        for name in re.findall(r"\bdocs/[\w/-]+\.md", text_of(ROOT / source)):
            if not (ROOT / name).exists():
                yield f"{source}: no such document: {name}"


def unshown_pictures(documents: list[str]) -> Iterator[str]:
    shown = {
        Path(target).name for path in documents for target in LINK.findall(text_of(ROOT / path))
    }
    for picture in tracked("docs/img/*"):
        if not picture.endswith(".py") and Path(picture).name not in shown:
            yield f"{picture}: no document shows it"


def wrong_numbers() -> Iterator[str]:
    for number in re.findall(r"\((\d+) languages", text_of(ROOT / "README.md")):
        if int(number) != len(all_languages()):
            yield f"README.md: {number} languages, and infill/languages has {len(all_languages())}"


def main() -> int:
    documents = tracked("*.md")
    found = [f"{path}: {what}" for path in documents for what in problems(path)]
    found += [*named_by_sources(), *unshown_pictures(documents), *wrong_numbers()]
    print(*found or [f"links and commands of {len(documents)} documents are right"], sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
