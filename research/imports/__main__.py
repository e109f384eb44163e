"""``python -m intarsia_research.imports FOLDER…``: imports taken out of real files, and restored.

Each folder is one project: an installed package, an unpacked crate, a module of a JDK. Those that
the rules were fitted on are left out, unless they are asked for.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from intarsia.infill.imports.binding import LANGUAGE_IDS
from intarsia.infill.languages import language_for_path
from intarsia.workspace.files.root_settings import RootSettings
from intarsia.workspace.index.own_index import OwnIndex
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia_research.imports.judge import Tally, judge_hole, judge_lines
from intarsia_research.imports.own_parser import OwnParser
from intarsia_research.imports.seeded_hole import seeded_holes

MIN_FILES = 5
"""A folder with fewer files of a language has nothing to tell by."""

_LINES_A_FILE = 20
_GROUPS = {
    "javascript": "JavaScript",
    "javascriptreact": "JavaScript",
    "typescript": "TypeScript",
    "typescriptreact": "TypeScript",
    "python": "Python",
    "go": "Go",
    "java": "Java",
    "rust": "Rust",
}


FITTED_ON = frozenset(
    {
        *("@trpc-server", "click", "grpc", "hashicorp", "hyper-0.14.19", "java.net.http"),
        *("jdk.jlink", "jdk.jshell", "jinja2", "rxjs", "spf13", "tokio-1.24.2"),
        *("toml_edit-0.14.4", "zod", "h2-0.3.13", "regex-automata-0.1.8", "reqwest-0.11.13"),
        *("@reduxjs-toolkit", "effect", "immer", "ox"),
        *("rustls-0.20.8", "serde_json-1.0.87", "syn-1.0.107"),
    }
)
"""Projects that were looked at while the rules were written: never part of a report."""


def measure(folder: Path, *, files: int, holes: int, seed: int) -> dict[str, Tally]:
    """Return the counts of one project by language."""
    tallies: dict[str, Tally] = {}
    settings = [RootSettings(path=str(folder.absolute()))]
    with (
        tempfile.TemporaryDirectory() as cache,
        OwnIndex(settings, Path(cache), OwnParser) as own,
    ):
        own.update()
        for path in _sample(own.index, folder, files, seed):
            tally = tallies.setdefault(_GROUPS[language_for_path(path).id], Tally())
            _measure_file(own.index, path, holes, random.Random(f"{seed} {path}"), tally)
    return tallies


def _sample(index: ProjectIndex, folder: Path, files: int, seed: int) -> Iterator[str]:
    """Yield some of the indexed files of each language, always the same."""
    by_group: dict[str, list[str]] = {}
    for found in sorted(folder.absolute().rglob("*")):
        language = language_for_path(found.name)
        is_declared = found.name.endswith(".d.ts")
        if language.id in LANGUAGE_IDS and not is_declared and index.read(found.as_posix()):
            by_group.setdefault(_GROUPS[language.id], []).append(found.as_posix())
    for paths in by_group.values():
        if len(paths) >= MIN_FILES:
            yield from random.Random(seed).sample(paths, min(files, len(paths)))


def _measure_file(
    index: ProjectIndex, path: str, num_holes: int, choice: random.Random, tally: Tally
) -> None:
    text, language = index.read(path) or "", language_for_path(path)
    for hole in seeded_holes(text, language, choice, num_holes):
        judge_hole(index, path, hole, language, tally)
    lines = [it for it in _lines(text) if text[it[0] : it[1]].strip()]
    judge_lines(
        index, path, text, iter(choice.sample(lines, min(_LINES_A_FILE, len(lines)))), tally
    )


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def _table(tallies: dict[str, Tally]) -> str:
    lines = [
        "| language | holes | a rule can tell | correct | wrong | silent | lines | unneeded |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for group, it in sorted(tallies.items()):
        share = f"{100 * it.num_correct / it.num_told:.1f} %" if it.num_told else "–"
        told = f"{it.num_told} ({100 * it.num_told / max(1, it.num_holes):.0f} %)"
        lines.append(
            f"| {group} | {it.num_holes} | {told} | {it.num_correct} ({share}) | {it.num_wrong} |"
            f" {sum(it.silent.values())} | {it.num_lines} | {it.num_unneeded} |"
        )
    lines += ["", "Silent, by the reason:", ""]
    for group, it in sorted(tallies.items()):
        reasons = "; ".join(f"{reason} {count}" for reason, count in it.silent.most_common())
        lines.append(f"- {group}: {reasons}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m intarsia_research.imports")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--fitted", action="store_true", help="those fitted on, and no others")
    parser.add_argument("--files", type=int, default=12, help="of each project and language")
    parser.add_argument("--holes", type=int, default=4, help="of each file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", action="store_true", help="show what was wrong")
    options = parser.parse_args(arguments)
    total: dict[str, Tally] = {}
    for folder in options.folders:
        if (folder.name in FITTED_ON) != options.fitted:
            continue
        found = measure(folder, files=options.files, holes=options.holes, seed=options.seed)
        for group, tally in found.items():
            total.setdefault(group, Tally()).add(tally)
    print(_table(total))  # noqa: T201
    for line in [it for tally in total.values() for it in tally.examples] * options.examples:
        print(line)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
