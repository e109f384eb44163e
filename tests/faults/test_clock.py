"""The system's clock jumps by years: no time-out, no back-off and no deadline follows it."""

from faults.editor import BY_DIGEST, editor_on
from faults.fault_server import fault_server_command
from faults.ground import Ground
from faults.patched import JUMPING_CLOCK, patched

DAY_S = 86_400.0
SERVER = fault_server_command(rules=[BY_DIGEST])


async def test_the_clock_jumps_forward_and_back(ground: Ground) -> None:
    jump = ground.folder / "clock" / "jump"
    environment = patched(ground.folder / "clock", JUMPING_CLOCK)
    jump.write_text("0")
    options = {"deadlineMs": 60_000}
    async with editor_on(ground, SERVER, options=options, environment=environment) as editor:
        assert await editor.is_in_step()
        pid = (await ground.engine()).pid
        for days in (400, -3_000, 0):
            jump.write_text(str(days * DAY_S))
            assert await editor.is_in_step()
        assert (await ground.engine()).pid == pid
        await editor.is_well()
