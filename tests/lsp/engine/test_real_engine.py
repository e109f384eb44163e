"""The server before the real engine with the real default model, as two editors see it."""

import pytest
from editor_clients import SERVER, neovim, page, vscode
from engine_watch import status_of
from lsprotocol import types

from intarsia.engine.ipc.address import Address

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]

PATIENT = {"deadlineMs": 60_000, "invokedDeadlineMs": 60_000}
ALONE = {**PATIENT, "fillAhead": "off", "nextEdit": "off"}
"""No work in idle time, which could have the context while the other client asks for it."""

SOURCE = '''"""Plain arithmetic."""


def add(left, right):
    """Return the sum of left and right."""
    return 


print(add(1, 2))
'''


@pytest.mark.parametrize("who", [vscode, neovim])
async def test_a_line_is_filled_at_the_cursor(real_engine_runtime, who):
    how = {"name": "arithmetic.py", "who": who(), "server": SERVER, "options": PATIENT}
    async with page(real_engine_runtime, SOURCE, **how) as user:
        (item,) = await user.items(5, 11)
        assert item.insert_text == "left + right"
        cursor = types.Position(5, 11)
        assert item.range == types.Range(cursor, cursor)


async def test_two_servers_share_one_engine_and_its_prefix(real_engine_runtime: Address) -> None:
    how = {"name": "arithmetic.py", "server": SERVER, "options": ALONE}
    async with (
        page(real_engine_runtime, SOURCE, **how) as one,
        page(real_engine_runtime, SOURCE, who=neovim(), **how) as other,
    ):
        for user in (one, other):
            assert await user.shown(5, 11)
        assert "context tokens: 0 computed" in other.log
        status = await status_of(real_engine_runtime)
        assert status.num_clients == 3
        assert status.cached_tokens > 0
