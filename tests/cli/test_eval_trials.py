"""Every hole in every mode, through an engine that fills by rules."""

from dataclasses import dataclass

from rule_engine import rule_engine_launch

from intarsia.cli.eval_figures import evaluate
from intarsia.cli.eval_trials import Answer, run_trials
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, FillFailed
from intarsia.engine.ipc.messages import Fill
from intarsia.filling.options import FillOptions

MODES = ("left_to_right", "verified")


@dataclass(frozen=True)
class Toy:
    truth: str


class Asker:
    """Asks for a fill, and fails where the hole's text is ``fails``."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, FillOptions]] = []

    async def __call__(self, client: EngineClient, case: Toy, options: FillOptions) -> Answer:
        self.asked.append((case.truth, options))
        if case.truth == "fails" and options.settle == "verified" and options.max_tokens is None:
            raise FillFailed("internal", "the engine went away: try again")
        filled = await client.fill(Fill(id=0, prefix=case.truth, suffix=""))
        return Answer(text=filled.text, filled=filled)


async def start(address: Address) -> None:
    launch = rule_engine_launch(text="one")
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.status()


async def test_the_modes_take_turns_at_each_hole_after_its_context_is_read(address: Address):
    await start(address)
    asker = Asker()
    await run_trials([Toy("one"), Toy("two")], MODES, asker, None)
    assert [truth for truth, _ in asker.asked] == ["one"] * 3 + ["two"] * 3
    modes = [None if options.max_tokens == 1 else options.settle for _, options in asker.asked]
    assert modes == [None, *MODES, None, *MODES]


async def test_a_hole_without_an_answer_is_a_failure_and_the_rest_goes_on(address: Address, capsys):
    await start(address)
    trials = await run_trials([Toy("fails"), Toy("one")], MODES, Asker(), None)
    evaluation = evaluate(trials, MODES)
    assert evaluation.failures == 1
    assert [mode.failures for mode in evaluation.modes] == [0, 1]
    assert [mode.exact for mode in evaluation.modes] == [0.5, 0.5]
    assert "no answer: the engine went away: try again" in capsys.readouterr().err
