"""The commands with the real engine and the default model, as a new user meets them."""

import html
import http.client
import json
import re
import shlex
import shutil
from collections.abc import Iterator

import pytest
from api_desk import api_of_real_engine
from checkout import ROOT
from command_line import run

from intarsia.cli.demo import read_samples
from intarsia.engine.ipc.address import Address

pytestmark = pytest.mark.model


@pytest.fixture(autouse=True)
def address(real_engine_runtime: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one real engine of this run is at each command's address."""
    for name, value in real_engine_runtime.as_environment().items():
        monkeypatch.setenv(name, value)


def drawn_in(picture: str) -> list[str]:
    """Return the lines of a picture of a terminal, without their blanks, which are not drawn."""
    text = (ROOT / picture).read_text()
    lines: dict[str, str] = {}
    for line, part in re.findall(r'clip-path="url\(#fill-(line-\d+)\)">(.*?)</text>', text):
        lines[line] = lines.get(line, "") + "".join(html.unescape(part).split())
    return list(lines.values())


RIGHT = {
    "temperatures.py": r"(if not self\.readings: (raise|return) .*)?"
    r"return sum\(self\.readings\) / len\(self\.readings\)",
    "cart.ts": r"return items\.reduce\(\(count, item\) => count \+ item\.quantity, 0\);",
    "query.js": r"(const|let) \[name, value\] = pair\.split\((\"=\"|'=')(, 2)?\);",
    "shape.rs": r"Shape::Rectangle \{ width, height \} => (width \* height|height \* width),",
    "statistics.go": r"if len\(values\) == 0 \{ return 0, ErrEmpty \} (\w+) := values\[0\] "
    r"for _, (\w+) := range values(\[1:\])? \{ if \2 > \1 \{ \1 = \2 \} \} return \1, nil",
    "Account.java": r"if \((amount <=? 0 \|\| )?(amount > balance|balance < amount)\) \{",
}
"""Each sample with what is right there: changed lines whose blanks are one blank each."""


def test_the_demo_fills_every_hole_right():
    result = run("demo")
    assert result.exit_code == 0, result.stdout + result.stderr
    assert result.stdout.count(" forward passes · ") + result.stdout.count(
        " forward pass · "
    ) == len(read_samples())
    assert "no suggestion" not in result.stdout
    parts = re.split(r"^(\S+):\d+:\d+$", result.stdout, flags=re.MULTILINE)
    for file, shown in zip(parts[1::2], parts[2::2], strict=True):
        written = re.findall(r"^\+ *\d+ │ (.*)$", shown, re.MULTILINE)
        assert re.fullmatch(RIGHT[file], " ".join(" ".join(written).split())), written
    in_picture = [line for line in drawn_in("docs/img/fill.svg") if line.startswith("+")]
    printed = "".join(result.stdout.split())
    assert in_picture
    assert [line for line in in_picture if line not in printed] == []


COST = re.compile(r"\d+ forward pass(es)? · ")
DOCUMENTED = re.compile(r"^```\n\$ intarsia (.+)\n((?:.*\n)*?)```$", re.MULTILINE)


def documented() -> Iterator[tuple[str, str]]:
    """Yield each command in a document that has its output below it, and that output."""
    for path in sorted(ROOT.glob("docs/**/*.md")):
        for command, shown in DOCUMENTED.findall(path.read_text()):
            if shown and not shown.startswith("$"):
                yield command, shown


@pytest.mark.parametrize(
    ("command", "shown"), list(documented()), ids=lambda it: it.partition(" --")[0]
)
def test_a_document_shows_what_its_command_prints_today(command, shown, tmp_path, monkeypatch):
    words = shlex.split(command)
    shutil.copy(ROOT / "tests" / "data" / "documented" / words[1], tmp_path)
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert result.exit_code == 0, result.stdout + result.stderr
    lines = [line for line in result.stdout.splitlines() if not COST.match(line)]
    assert lines == shown.splitlines()


ASKED = re.compile(r"^\$ curl \S+(/v1/\S+) -H '.*?' -d '(.*?)'\n(\{\"id\".*?)\n```", re.M | re.S)


def test_the_api_answers_what_its_document_shows(real_engine_runtime: Address):
    text = (ROOT / "docs" / "completions-api.md").read_text()
    [(path, asked, shown)] = ASKED.findall(text)
    with api_of_real_engine(real_engine_runtime) as desk:
        connection = http.client.HTTPConnection("127.0.0.1", desk.port, timeout=120)
        connection.request("POST", path, asked, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
    assert answer | {"id": "", "created": 0} == json.loads(shown) | {"id": "", "created": 0}
