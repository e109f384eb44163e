"""Each line of the threat model names tests, and every test that it names exists."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest
from checkout import ROOT

DOCUMENT = ROOT / "docs" / "threat-model.md"
THREAT = re.compile(r"^- \*\*(.+?)\*\*:", re.DOTALL)
NAME = re.compile(r"^  `([^`]+)::([^`]+)`$", re.MULTILINE)


def threats() -> Iterator[tuple[str, str]]:
    """Yield each threat with its whole entry, where its tests are named line by line."""
    for entry in re.split(r"^(?=- )|^(?=#)", DOCUMENT.read_text(), flags=re.MULTILINE):
        if entry.startswith("- "):
            threat = THREAT.match(entry)
            assert threat, f"no threat: {entry}"
            yield threat[1], entry


THREATS = list(threats())


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


@pytest.mark.parametrize(("threat", "entry"), THREATS, ids=[threat for threat, _ in THREATS])
def test_a_threat_names_tests_that_exist(threat: str, entry: str) -> None:
    named = NAME.findall(entry)
    assert named, f"no test for: {threat}"
    assert entry.count("::") == len(named)
    for path, name in named:
        if path.endswith(".ts"):
            assert f"`{name} ${{" in (ROOT / path).read_text()
        else:
            assert name in names_in(path), f"{path} has no {name}"


def test_every_attacker_has_threats() -> None:
    parts = re.split(r"^## ", DOCUMENT.read_text(), flags=re.MULTILINE)[1:]
    assert len(parts) >= 7
    assert all("\n- **" in part for part in parts)
