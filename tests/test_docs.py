"""The documents hold: lengths, links, file names, commands, and plain words."""

import os
import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import click
import pytest
from checkout import ROOT

from intarsia.cli.command_table import cli

MAX_LINE_CHARS = 100
MAX_WORDS = {"README.md": 1000, "ARCHITECTURE.md": 1100, "docs/design-notes/*.md": 600}

PARTS = ("lsp", "workspace", "infill", "engine", "cli", "research")
INSTALLED = ("node_modules", "build", "dist", "shared")
NOT_OURS = "research/evaluation/sets/builtin_files/"  # files of other projects, and their README

DIALECT = re.compile(
    r"\b(?:behind|anew|so many|so much of|nobody|whoever|whose|of them|of which|thereof|whereupon"
    r"|lies|lie in|stands|stand in|cannot be had|can be had|is had|to be had|says not|named token"
    r"|settles? (?:down|by)|for it is|meanwhile|what is not|goes on as|alike|but for)\b",
    re.IGNORECASE,
)
"""Words of older texts that plain English says better: after, again, N, nobody → "no client", …"""

COMMAND = re.compile(r"^(?:\$ )?(?:\w+=\S+ )*(?:\.venv/bin/)?(intarsia|make)\s+(?P<rest>\S.*)$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?: \"[^\"]*\")?\)")
CODE_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
SOURCE_PATH = re.compile(r"(?<![\w/.~-])[\w-]+(?:/[\w-]+)+\.(?:py|md|svg|png|toml|txt|mk)\b")


def documents() -> Iterator[str]:
    """Yield the Markdown files of this checkout, outside of what is built or installed in it."""
    for folder, subfolders, files in os.walk(ROOT):
        subfolders[:] = [name for name in subfolders if name[0] != "." and name not in INSTALLED]
        for name in files:
            path = Path(folder, name).relative_to(ROOT).as_posix()
            if name.endswith(".md") and not path.startswith(NOT_OURS):
                yield path


DOCUMENTS = sorted(documents())


@cache
def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def fenced_lines(text: str) -> Iterator[str]:
    """Yield the lines inside fenced blocks, those ending in a backslash joined with the next."""
    is_code, held = False, ""
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            is_code, held = not is_code, ""
        elif is_code and line.endswith("\\"):
            held += line[:-1].strip() + " "
        elif is_code:
            yield held + line.strip()
            held = ""


def prose(text: str) -> str:
    """Return the text without fenced blocks and code spans, line by line as it was."""
    lines, is_code = [], False
    for line in text.splitlines():
        is_fence = line.lstrip().startswith("```")
        lines.append("" if is_fence or is_code else line)
        is_code ^= is_fence
    return CODE_SPAN.sub(lambda span: "\n" * span[0].count("\n"), "\n".join(lines))


def code_spans(text: str) -> list[str]:
    unfenced = re.sub(r"^\s*```.*?^\s*```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return [" ".join(span[1].split()) for span in CODE_SPAN.findall(unfenced)]


def commands(path: str) -> list[tuple[str, bool]]:
    """Return each command line of a document, and whether it is meant to be run as it is."""
    lines = [(line, True) for line in fenced_lines(text_of(path))]
    lines += [(span, False) for span in code_spans(text_of(path))]
    return [(line, is_whole) for line, is_whole in lines if COMMAND.match(line)]


def problem(line: str, *, is_whole: bool) -> str | None:
    """Return why a command line cannot be run, None if it can. Nothing is run."""
    match = COMMAND.match(line)
    assert match is not None
    try:
        args = shlex.split(match["rest"], comments=True)
        if args[:1] == ["…"]:  # `intarsia … --model X`: an option of several commands
            return None
        return unknown_target(args) if match[1] == "make" else unknown_word(args, is_whole=is_whole)
    except (ValueError, click.ClickException) as error:
        return str(error)


@cache
def make_targets() -> set[str]:
    makefiles = [ROOT / "Makefile", *ROOT.glob("tests/*/setup.mk")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in makefiles)
    named = set(re.findall(r"^([a-z][\w-]*):", text, flags=re.MULTILINE))
    lists = ROOT.glob("tests/live_engines/requirements/*.txt")
    return named | {f"build/servers/{path.stem}/.ready" for path in lists}


def unknown_target(args: list[str]) -> str | None:
    targets = [arg for arg in args if "=" not in arg]
    while targets and targets[0].startswith("-"):
        targets = targets[2:]  # -C FOLDER, -o TARGET
    unknown = set(targets) - make_targets()
    return f"no such target: {unknown}" if unknown else None


def unknown_word(args: list[str], *, is_whole: bool) -> str | None:
    """Parse the words after ``intarsia`` by click's own table; files are not looked for."""
    command, context, args = find_command(args)
    try:
        values, rest, _ = command.make_parser(context).parse_args(args)
    except click.BadOptionUsage as error:
        return error.message if is_whole else None  # `intarsia train --repo`: its value is left out
    if rest:
        return f"too many words: {rest}"
    if not is_whole:
        return None
    for parameter in command.params:
        value = values.get(parameter.name or "")
        if isinstance(parameter.type, click.Choice) and value is not None:
            parameter.type_cast_value(context, value)
        if parameter.required and value is None:
            return f"{parameter.name} is missing"
    return None


def find_command(args: list[str]) -> tuple[click.Command, click.Context, list[str]]:
    """Return the command that the first words name, and the words after them."""
    command: click.Command = cli
    context = click.Context(cli, info_name="intarsia")
    while isinstance(command, click.Group) and args:
        if args[0] == "--repo":  # train --repo PATH is short for train repo PATH
            args = ["repo", *args[1:]]
        if args[0].startswith("-"):
            break
        name, found, args = command.resolve_command(context, args)
        if found is None:
            raise click.UsageError(f"no such command: {name}")
        command, context = found, click.Context(found, info_name=name, parent=context)
    return command, context, args


@pytest.mark.parametrize("pattern", MAX_WORDS)
def test_a_document_is_short_enough_to_be_read(pattern: str) -> None:
    paths = [path for path in DOCUMENTS if fnmatchcase(path, pattern)]
    assert paths
    lengths = {path: len(text_of(path).split()) for path in paths}
    assert not {path: n for path, n in lengths.items() if n > MAX_WORDS[pattern]}


@pytest.mark.parametrize("path", DOCUMENTS)
def test_lines_fit_a_terminal(path: str) -> None:
    lines = enumerate(text_of(path).splitlines(), start=1)
    long = [(at, line) for at, line in lines if len(line) > MAX_LINE_CHARS]
    # A line of one word, such as a test's full name, cannot be broken.
    assert not [f"{path}:{at} ({len(line)})" for at, line in long if len(line.split()) > 1]


@pytest.mark.parametrize("path", DOCUMENTS)
def test_links_and_pictures_exist(path: str) -> None:
    targets = [target for target in LINK.findall(text_of(path)) if "://" not in target]
    missing = []
    for target in targets:
        file, _, section = target.partition("#")
        at = (ROOT / path).parent / file if file else ROOT / path
        if not at.exists() or (section and section not in headings(at)):
            missing.append(target)
    assert not missing


def headings(path: Path) -> set[str]:
    """Return the anchors of a Markdown file's headings, as GitHub makes them."""
    lines = path.read_text(encoding="utf-8").splitlines()
    titles = [line.lstrip("#").strip().lower() for line in lines if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def test_documents_that_sources_name_exist() -> None:
    sources = [path for part in (*PARTS, "tests") for path in (ROOT / part).rglob("*.py")]
    named = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources
        for name in re.findall(r"\bdocs/[\w/-]+\.md", path.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    }
    assert not named


def test_every_picture_is_shown_somewhere() -> None:
    linked = {Path(target).name for path in DOCUMENTS for target in LINK.findall(text_of(path))}
    pictures = {path.name for path in (ROOT / "docs" / "img").iterdir() if path.suffix != ".py"}
    assert not pictures - linked


@pytest.mark.parametrize("path", DOCUMENTS)
def test_files_that_are_named_exist(path: str) -> None:
    if path.endswith("CHANGELOG.md"):
        return  # tells of files as they were
    named = [name for span in code_spans(text_of(path)) for name in SOURCE_PATH.findall(span)]
    folder = (ROOT / path).parent
    assert not [n for n in named if not (ROOT / n).exists() and not (folder / n).exists()]


@pytest.mark.parametrize("path", DOCUMENTS)
def test_commands_are_understood(path: str) -> None:
    problems = {line: problem(line, is_whole=is_whole) for line, is_whole in commands(path)}
    assert not {line: why for line, why in problems.items() if why}


@pytest.mark.parametrize("path", DOCUMENTS)
def test_words_are_plain(path: str) -> None:
    lines = enumerate(prose(text_of(path)).splitlines(), start=1)
    found = [f"{path}:{at} {hit}" for at, line in lines for hit in DIALECT.findall(line)]
    assert not found
