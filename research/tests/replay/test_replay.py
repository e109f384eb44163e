"""A small part of the set ``typing``, through the real server with the real default model."""

from pathlib import Path

import pytest

from intarsia.engine.ipc.address import Address
from intarsia_research.replay.replay import replay
from intarsia_research.replay.sessions import Session

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]

_CART = """class Cart:
    def __init__(self):
        self.lines = []

    def add(self, article, count):
        self.lines.append((article, count))

    def total(self):
        ‸return sum(article.price * count for article, count in self.lines)‸
"""
_LIST = """<ul>
{% for user in users %}
  <li class="user">{{ ‸user.name‸ }}</li>
{% endfor %}
</ul>
"""
_BUCKET = """resource "aws_s3_bucket" "logs" {
  ‸bucket = "logs"
  ‸tags = {
    Name = "logs"
  }
}
"""


def session(way: str, path: str, language: str, drawn: str, root: Path = Path("alone")) -> Session:
    before, goal, after = drawn.split("‸")
    return Session(
        root=root,
        path=path,
        language=language,
        way=way,
        before=before,
        goal=goal,
        after=after,
    )


async def test_nothing_harmful_is_shown_and_keys_are_saved(real_engine_runtime: Address) -> None:
    sessions = [
        session("lines", "cart.py", "python", _CART),
        session("middle", "list.jinja", "jinja", _LIST),
        session("before", "bucket.tf", "terraform", _BUCKET),
    ]
    result = await replay(sessions, {}, environment=real_engine_runtime.as_environment())
    assert [shown for shown in result.shown if shown.verdict not in ("right", "other")] == []
    assert result.whole.right > 0
    assert result.whole.keys < 0.8 * result.whole.keys_without
    assert result.whole.withdrawn == 0


async def test_a_name_of_another_file_is_suggested_where_the_project_is_open(
    tmp_path: Path, real_engine_runtime: Address
) -> None:
    drawn = "from stock import Depot\n\n\ndef main(depot: Depot):\n    ‸depot.reorder_missing()‸\n"
    (tmp_path / "main.py").write_text(drawn.replace("‸", ""))
    (tmp_path / "stock.py").write_text(
        "class Depot:\n    def reorder_missing(self) -> None:\n        print(self.articles)\n"
    )
    sessions = [session("lines", "main.py", "python", drawn, tmp_path)]
    environment = real_engine_runtime.as_environment()
    alone = await replay(sessions, {}, environment=environment)
    in_project = await replay(sessions, {}, environment=environment, reads_project=True)
    assert in_project.whole.keys < alone.whole.keys
