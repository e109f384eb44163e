"""An edit is a repair only if it is likelier; refills are asked for where rules do not suffice."""

from collections.abc import Mapping

from intarsia.engine.ipc.messages import Fill, Filled, ScoreTexts, TextScores, Timing
from intarsia.infill.filling.options import FillOptions, OnStep
from intarsia.infill.languages import language_for_id
from intarsia.infill.repair.description import description_of
from intarsia.infill.repair.find_repair import Asking, Repair, find_repair
from intarsia.infill.repair.proposals_at import Found, find_proposals
from intarsia.infill.replacement import with_replaced
from intarsia.infill.suggestion import NoSuggestion


class Model:
    """Gives texts the gains of the first line that they contain, and fills with one answer."""

    def __init__(self, gains: Mapping[str, float], answer: str = "") -> None:
        self.gains = gains
        self.answer = answer
        self.num_fills = 0

    async def fill(self, request: Fill, on_step: OnStep | None = None) -> Filled | NoSuggestion:
        self.num_fills += 1
        return Filled(
            id=request.id,
            text=self.answer,
            tokens=(),
            num_forwards=1,
            ms=Timing(queue=0, prefill=0, denoise=0, total=0),
            mean_entropy=0.0,
            finish_reason="end_of_hole",
            model="scripted",
            num_prefilled=0,
            num_reused=0,
        )

    async def scores(self, request: ScoreTexts) -> TextScores | NoSuggestion:
        wholes = [request.prefix + text + request.suffix for text in request.texts]
        gains = (
            next((gain for line, gain in self.gains.items() if line in whole), -5.0)
            for whole in wholes
        )
        return TextScores(id=request.id, gains=tuple(gains), ms=0.0)


async def repair_of(text: str, model: Model, at: int = 0) -> Repair | NoSuggestion:
    found = find_proposals(text, at, at, language_for_id("python"))
    assert isinstance(found, Found)
    asking = Asking(fill=model.fill, scores=model.scores, options=FillOptions())
    return await find_repair(asking, found)


async def test_the_likeliest_edit_is_the_repair():
    text = "x = = 1\n"
    model = Model({"x = 1\n": 12.0})
    repair = await repair_of(text, model)
    assert isinstance(repair, Repair) and repair.gain == 12.0
    assert with_replaced(text, [repair.replacement]) == "x = 1\n"
    assert description_of(text, repair) == 'delete "="'
    assert not model.num_fills


async def test_what_gains_less_than_two_nats_is_no_repair():
    assert isinstance(await repair_of("x = = 1\n", Model({"x = 1\n": 1.9})), NoSuggestion)


async def test_of_edits_about_as_likely_the_smallest_is_taken():
    text = "f(a, b\n"
    model = Model({"f(a, b)": 9.0, "f(a, )": 9.5})
    repair = await repair_of(text, model)
    assert isinstance(repair, Repair)
    assert with_replaced(text, [repair.replacement]) == "f(a, b)\n"


async def test_a_missing_name_is_written_by_the_model():
    text = "def f(a):\n    return a.\n"
    model = Model({"return a.size": 9.0}, answer="size\n")
    repair = await repair_of(text, model)
    assert isinstance(repair, Repair) and repair.kind == "refill"
    assert with_replaced(text, [repair.replacement]) == "def f(a):\n    return a.size\n"


async def test_a_refill_that_does_not_parse_is_not_compared():
    model = Model({"a.(": 50.0}, answer="(")
    assert isinstance(await repair_of("def f(a):\n    return a.\n", model), NoSuggestion)
