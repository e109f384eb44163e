"""A small part of the set ``typing``, through the real server with the real default model."""

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


def session(way: str, language: str, drawn: str) -> Session:
    before, goal, after = drawn.split("‸")
    return Session(
        file=language,
        language=language,
        suffix=f".{language}",
        way=way,
        before=before,
        goal=goal,
        after=after,
    )


async def test_nothing_harmful_is_shown_and_keys_are_saved(real_engine_runtime: Address) -> None:
    sessions = [
        session("lines", "python", _CART),
        session("middle", "jinja", _LIST),
        session("before", "terraform", _BUCKET),
    ]
    result = await replay(sessions, {}, environment=real_engine_runtime.as_environment())
    assert [shown for shown in result.shown if shown.verdict not in ("right", "other")] == []
    assert result.whole.right > 0
    assert result.whole.keys < 0.8 * result.whole.keys_without
    assert result.whole.withdrawn == 0
