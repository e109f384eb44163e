"""``intarsia fill`` reads the code of other files that ``intarsia context`` shows."""

import json
from pathlib import Path

import pytest
from command_line import run

from intarsia.cli.errors import ExitCode
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill, Filled

MODELS = "class Article:\n    price_cents: int\n    stock: int\n"
PRICING = (
    "from models import Article\n\n\n"
    "def price(article: Article) -> int:\n    ...\n\n\n"
    "def stock(article: Article) -> int:\n    ...\n\n\n"
    "x = = 1\n"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of a folder without a version control or a project's settings."""
    (tmp_path / "models.py").write_text(MODELS)
    path = tmp_path / "pricing.py"
    path.write_text(PRICING)
    return path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Fill]:
    """What the engine is asked."""
    requests: list[Fill] = []
    fill = EngineClient.fill

    async def recording(client: EngineClient, request: Fill, *others: object) -> Filled:
        requests.append(request)
        return await fill(client, request, *others)

    monkeypatch.setattr(EngineClient, "fill", recording)
    return requests


@pytest.mark.parametrize(
    "words",
    [
        ("--at", "5:5"),
        ("--hole", "5:5-5:8"),
        ("--all-holes",),
        ("--rewrite", "5:5-5:8", "--noise", "1"),
        ("--repair", "12"),
    ],
)
def test_every_fill_carries_the_chunks_that_the_context_command_shows(
    start_engine, file, asked, words
):
    start_engine(text="return 1", likely=())
    run("fill", file, *words)
    assert asked
    shown = json.loads(run("context", file, "--at", "5:5", "--json").stdout)
    for request in asked:
        assert request.project is not None and request.project_use == "always"
        chunks = [(it.path, it.text) for it in request.project.chunks]
        assert chunks == [(it["path"], it["text"]) for it in shown["chunks"]]
        assert "price_cents: int" in chunks[0][1]
    if words == ("--all-holes",):
        assert "return 1" in asked[1].prefix, "each fill sees the fills before it"


def test_the_project_can_be_left_out(start_engine, file: Path, asked: list[Fill], cache: Path):
    start_engine(text="return 1")
    result = run("fill", file, "--at", "5:5", "--no-project")
    assert result.exit_code == 0, result.stderr
    assert [it.project for it in asked] == [None]
    assert not list(cache.iterdir())


def test_the_users_home_is_no_project(start_engine, file, asked, monkeypatch):
    monkeypatch.setenv("HOME", str(file.parent))
    start_engine(text="return 1")
    run("fill", file, "--at", "5:5")
    assert [it.project for it in asked] == [None]


def test_a_rewrite_that_loses_a_name_changes_nothing(start_engine, file: Path):
    file.write_text("def f(xs):\n    total = 0\n    return total\n")
    start_engine()
    result = run("fill", file, "--rewrite", "2:5-2:14", "--noise", "1", "--write")
    assert result.exit_code == ExitCode.NOTHING
    assert "`total`, which the selection defined" in result.stdout
    assert "total = 0" in file.read_text()
