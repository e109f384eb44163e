"""VS Code's extension in other languages: its own texts, and those of the server that it shows."""

import ast
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VSCODE = ROOT / "editors/vscode"
LANGUAGES = ("de", "es", "fr", "ja", "pt-br", "zh-cn")
# What a translation may neither lose nor invent: places for arguments, code, links, icons, keys,
# names of settings and variables, marks.
KEPT = re.compile(
    r"\{\d\}|`[^`]*`|\]\([^)]*\)|\$\([\w~-]+\)|\b\w+\+[\w\]\\]+|\b[A-Z]+_[A-Z_]+\b"
    r"|\b[a-z]+[A-Z]\w+|\(intarsia\)|[⇥•…]"
)
ONLY_LOGGED = {
    "nothing has changed",
    "only white space has changed",
    "it would bring back the name that was just replaced",
}
NUMBER = re.compile(r"(?<!\{)\d+(?:[.,]\d+)*")  # some languages write more of them in digits


def texts(file: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((VSCODE / file).read_text(encoding="utf-8"))
    return found


def texts_of_source() -> set[str]:
    """Return the texts that the extension's code has translated."""
    calls = re.compile(r'\bl10n\.t\(\s*("(?:[^"\\]|\\.)*")')
    files = [path for path in VSCODE.glob("src/**/*.ts") if "test" not in path.parts]
    return {json.loads(it) for path in files for it in calls.findall(path.read_text("utf-8"))}


def _template(node: ast.AST) -> str | None:
    """Return a text with ``{0}`` and so on in the places of its values."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        numbers = iter(range(10))
        return re.sub(r"\{[:.\w]*\}", lambda _: f"{{{next(numbers)}}}", node.value)
    if not isinstance(node, ast.JoinedStr):
        return None
    parts = [it.value if isinstance(it, ast.Constant) else None for it in node.values]
    places = [at for at, it in enumerate(parts) if it is None]
    return "".join(f"{{{places.index(at)}}}" if it is None else it for at, it in enumerate(parts))


@cache
def said_by(folder: str) -> tuple[set[str | None], set[str | None]]:
    """Return all texts in the code of a folder, and those that are reasons."""
    nodes = [
        node
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    ]
    reasons = (it.value for it in nodes if isinstance(it, ast.keyword) and it.arg == "reason")
    texts = (it for it in nodes if isinstance(it, ast.Constant | ast.JoinedStr))
    return set(map(_template, texts)), set(map(_template, reasons))


def test_each_text_of_the_manifest_is_named_and_there() -> None:
    manifest = (VSCODE / "package.json").read_text(encoding="utf-8")
    named = re.findall(r'"%([^"]+)%"', manifest)
    assert sorted(named) == sorted(texts("package.nls.json"))
    shown = (
        r'"(?:title|label|description|markdownDescription|patternErrorMessage)": "(?!%|Intarsia")'
    )
    assert not re.findall(shown, manifest)
    enums = re.findall(r'"enumDescriptions": \[([^\]]*)\]', manifest)
    assert all(it.strip().startswith('"%') for one in enums for it in one.split(","))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_each_text_and_no_other(language: str) -> None:
    manifest, ours = (
        texts(f"package.nls.{language}.json"),
        texts(f"l10n/bundle.l10n.{language}.json"),
    )
    assert manifest.keys() == texts("package.nls.json").keys()
    assert texts_of_source() <= ours.keys()
    servers = set.union(*(said_by(folder)[0] for folder in ("lsp", "infill", "engine")))
    assert ours.keys() - texts_of_source() - servers == set(), "nobody says it, or no longer"
    assert ours.keys() == texts("l10n/bundle.l10n.de.json").keys()


@pytest.mark.parametrize("folder", ["lsp", "infill/filling", "infill/holes", "infill/postprocess"])
def test_why_nothing_is_shown_is_translated(folder: str) -> None:
    told = {it for it in said_by(folder)[1] if it and re.search("[a-z]", it)} - ONLY_LOGGED
    assert told - texts("l10n/bundle.l10n.de.json").keys() == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_keeps_what_is_not_words(language: str) -> None:
    english = texts("package.nls.json")
    pairs = [(english[key], it) for key, it in texts(f"package.nls.{language}.json").items()]
    pairs += texts(f"l10n/bundle.l10n.{language}.json").items()
    for source, target in pairs:
        assert sorted(KEPT.findall(source)) == sorted(KEPT.findall(target)), target
        assert not Counter(NUMBER.findall(source)) - Counter(NUMBER.findall(target)), target


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_walkthrough_has_its_pages(language: str) -> None:
    quoted = r"unsure: Alt+\ shows it"
    words = texts(f"l10n/bundle.l10n.{language}.json")[quoted]
    pages = {path for path in VSCODE.glob("walkthrough/*.md") if ".nls." not in path.name}
    assert len(pages) == 5
    for page in pages:
        english = page.read_text(encoding="utf-8").replace(quoted, words)
        target = page.with_suffix(f".nls.{language}.md").read_text(encoding="utf-8")
        assert sorted(KEPT.findall(english)) == sorted(KEPT.findall(target)), page.name
        assert not Counter(NUMBER.findall(english)) - Counter(NUMBER.findall(target)), page.name
