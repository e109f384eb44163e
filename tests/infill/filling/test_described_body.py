"""Which holes a model is asked for by a question: whole bodies of documented functions."""

import re

import pytest
from marked_text import read_marked
from scripted_engine import ScriptedEngine, filled_with

from intarsia.engine.ipc.messages import ChatTurn, Fill, Filled
from intarsia.infill.canvas import FirstWindow
from intarsia.infill.filling.described_body import MAX_HEAD_CHARS, asking_for_body
from intarsia.infill.filling.fill_places import fill_all, fill_selection
from intarsia.infill.filling.outcome import FilledPlace, Selection
from intarsia.infill.filling.plan import FillContext, FillOptions, FillPlan, plan_at_cursor
from intarsia.infill.holes.find_holes import find_holes
from intarsia.infill.languages import language_for_id

HEAD = 'def area(width, height):\n    """Return the area."""\n'
BELOW = "\n\n\ndef other():\n    return 1\n"


async def fill(marked, answer="return 1", language="python") -> tuple[FilledPlace, Fill]:
    source = read_marked(marked)
    engine = ScriptedEngine(lambda request: answer)
    selection = Selection(start=source.start, end=source.end)
    place = await fill_selection(engine.context(language), source.text, selection)
    return place, engine.requests[0]


async def test_the_question_holds_the_function_and_the_answer_begins_with_it():
    place, request = await fill(f"import os\n\n\n{HEAD}    ║return 0║{BELOW}")
    assert request.asked is not None
    block = f"```python\n{HEAD}    "
    assert request.asked.begun + request.given == block
    assert f"{block.rstrip()}\n```\n" in request.asked.user
    assert "import os" not in request.asked.user + request.asked.begun
    assert (request.prefix + request.given).endswith(HEAD + "    "), (
        "a model that is not asked fills the hole"
    )
    assert "def other" in request.suffix
    assert request.stop[-1] == "\n```"
    assert request.min_indent == 4
    assert f"{HEAD}    return 1{BELOW}" in place.result


DOC = '"""Return the area."""'
NESTED = 'class A:\n    def f(self):\n        """Go."""\n'


@pytest.mark.parametrize(
    "marked",
    [
        f"{HEAD}║    return 0║{BELOW}",
        f"{HEAD}\n    ║x = 1\n    return x║{BELOW}",
        f"{HEAD}    # the sides are positive\n    ║return 0║\n",
        f"{NESTED}        ║return 0║\n\n    def g(self):\n        return 2\n",
        f"async {HEAD}    ║return 0║\n",
        f"{HEAD}    ║return 0║{BELOW}".replace("\n", "\r\n"),
    ],
)
async def test_a_body_as_a_whole_is_asked_for(marked: str):
    _, request = await fill(marked)
    assert request.asked is not None
    assert "\r" not in request.asked.begun


@pytest.mark.parametrize(
    "marked",
    [
        "def area(width, height):\n    ║return 0║\n",  # nothing says what it does
        f"{HEAD}    ║x = 1║\n    return x\n",
        f"{HEAD}    x = 1\n    return x\n║{BELOW}",
        f"{HEAD}    def inner():\n        {DOC}\n        return 1\n    ║return inner()║\n",
        f"{HEAD}\n\n║x = 1║\n",  # the module goes on
        'class A:\n    """Hold."""\n\n    ║x = 1║\n',
        f"{HEAD.replace('area.', 'area.```')}    ║return 0║\n",
        f"{HEAD.replace('area.', 'x' * MAX_HEAD_CHARS)}    ║return 0║\n",
        'def area():\n    """║Return.║"""\n',
    ],
)
async def test_any_other_hole_is_filled(marked: str):
    _, request = await fill(marked)
    assert request.asked is None
    assert "\n```" not in request.stop


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("    x = 1\n    ║return x║", "    x = 1\n    "),
        ("    # the sides\n    x = 1\n\n    ║y = 1\n    return x║", "    x = 1\n\n    "),
        ("    re║turn 0\n    # end║", "    re"),
        ("    if width:\n        ║return 0\n    return 1║", "    if width:\n        "),
        ("    return ║width║", "    return "),
        ("    return width +║\n        height║", "    return width +"),
    ],
)
async def test_the_answer_goes_on_with_a_begun_body(body: str, written: str):
    """The question is that of the whole body, with the comments above it."""
    _, request = await fill(f"{HEAD}{body}{BELOW}")
    assert request.asked is not None
    above = body.partition(written)[0]
    assert request.asked.begun + request.given == f"```python\n{HEAD}{above}{written}"
    assert f"\n```python\n{HEAD}{above}".rstrip() + "\n```\n" in request.asked.user
    assert request.min_indent >= 4


COMMENTED = "/** Returns the area. */\nfunction area(w, h) {\n"


@pytest.mark.parametrize(
    ("language", "head", "closer"),
    [
        ("javascript", COMMENTED, "}"),
        ("javascript", COMMENTED.replace("*/\n", "*/\nexport default async "), "}"),
        ("javascript", "// Returns\n// the area\nexport const area = (w, h) => {\n", "};"),
        ("typescript", "class A {\n  // Returns the area\n  area(): number {\n", "  }\n}"),
        ("java", "class A {\n    /** Returns it. */\n    @Override\n    int f() {\n", "    }\n}"),
        ("rust", "/// Returns the area.\n#[inline]\nfn area(w: u8) -> u8 {\n", "}"),
        ("go", "// Area returns\n// the area.\nfunc Area(w int) int {\n", "}"),
        ("cpp", "// Returns the area.\nstatic int\narea(int w) {\n", "}"),
        ("c", "/* Returns the area. */\nint area(int w)\n{\n", "}"),
        ("csharp", "class A {\n    /// Returns it.\n    int F()\n    {\n", "    }\n}"),
        ("kotlin", "/** Returns the area. */\nfun area(w: Int): Int {\n", "}"),
        ("swift", "/// Returns the area.\nfunc area(w: Int) -> Int {\n", "}"),
        ("php", "<?php\n// Returns the area.\nfunction area($w) {\n", "}"),
        ("dart", "/// Returns the area.\n@pure\nint area(\n  int w,\n) {\n", "}"),
        ("dart", "class A {\n  /// Returns it.\n  static int f() {\n", "  }\n}"),
        ("ruby", "# Returns the area.\ndef area(w)\n", "end"),
        ("ruby", "class A\n  # Returns it.\n  def self.f\n", "  end\nend"),
        ("lua", "-- Returns the area.\nlocal function area(w)\n", "end"),
        ("lua", "--[[ Returns\nit. ]]\nM.area = function(w)\n", "end"),
    ],
)
async def test_a_comment_above_a_function_documents_it(language: str, head: str, closer: str):
    asked = question_at_cursor(f"{head}        ║\n{closer}\n", language)
    assert asked is not None
    documented = re.sub(r"\A(?:class A(?: \{)?|<\?php)\n", "", head)
    assert asked.begun.partition("\n")[2].rstrip(" ") == documented
    _, request = await fill(f"{head}        ║old();║\n{closer}\n", "return 1;", language)
    assert request.asked is None, "only at the cursor"


def question_at_cursor(marked: str, language: str) -> ChatTurn | None:
    source = read_marked(marked)
    plan = plan_at_cursor(source.text, source.start, language_for_id(language), FillOptions())
    assert isinstance(plan, FillPlan)
    return asking_for_body(plan, at_cursor=True).asked


@pytest.mark.parametrize(
    "marked",
    [
        "function area(w, h) {\n    ║old();║\n}\n",
        "// area\nfunction area(w, h) {\n    ║old();║\n}\n",  # says nothing
        "// of the whole file\n\nfunction area(w, h) {\n    ║old();║\n}\n",
        "old(); // of the line above\nfunction area(w, h) {\n    ║old();║\n}\n",
        f"{COMMENTED}    ║old();║\n    return 1;\n}}\n",
        f"{COMMENTED}    old();\n    ║old();║\n}}\n",
        f"{COMMENTED.rstrip()} ║old();║ }}\n",
        f"{COMMENTED}    if (w) {{\n        ║old();║\n    }}\n}}\n",
        "// Say the area\nxs.forEach(x => {\n    ║old();║\n});\n",
        "// when it is empty\nif (x) {\n    ║old();║\n}\n",
    ],
)
def test_a_body_that_nothing_documents_is_filled(marked: str):
    assert question_at_cursor(marked.replace("║old();║", "║"), "javascript") is None


@pytest.mark.parametrize(
    ("language", "marked", "is_asked"),
    [
        ("python", f"{HEAD}    ║{BELOW}", True),
        ("python", f"{HEAD}║{BELOW}", True),
        ("python", f"{HEAD}    re║{BELOW}", False),  # the line alone
        ("python", f"{HEAD}    x = 1\n    ║{BELOW}", False),
        ("python", f"{HEAD}    for x in range(width):\n        ║{BELOW}", False),
        ("javascript", f"{COMMENTED}  ║\n}}\n", True),
        ("javascript", f"{COMMENTED.rstrip()}║}}\n", False),
    ],
)
def test_an_empty_body_at_the_cursor_is_asked_for(language: str, marked: str, is_asked: bool):
    assert (question_at_cursor(marked, language) is not None) == is_asked


def test_the_question_holds_more_than_a_short_window() -> None:
    head = HEAD.replace("area.", "area." + "\n    Of a plane." * 90)
    source = read_marked("x = 1\n" * 900 + head + "    ║" + BELOW)
    first = FirstWindow(prefix_tokens=100, suffix_tokens=20)
    python = language_for_id("python")
    plan = plan_at_cursor(source.text, source.start, python, FillOptions(), first=first)
    assert isinstance(plan, FillPlan) and plan.canvas.is_short
    assert head not in plan.canvas.prefix
    asked = asking_for_body(plan, at_cursor=True).asked
    assert asked is not None
    assert asked.begun + plan.canvas.given == f"```python\n{head}    "


async def test_marked_bodies_are_asked_for_without_their_placeholder():
    text = f"{HEAD}    pass  # TODO\n\n\n{HEAD.replace('area', 'edge')}    ...\n"
    turns = await questions_of_all(text, was_asked=True)
    assert len(turns) == 2, "no other fill changes the question: it is not repeated"
    for turn, name in zip(turns, ("area", "edge"), strict=True):
        assert turn is not None
        assert turn.begun.rstrip() == f"```python\n{HEAD.replace('area', name)}".rstrip()


async def test_a_model_that_is_not_asked_fills_again_seeing_all_the_others():
    text = f"{HEAD}    ...\n\n\n{HEAD.replace('area', 'edge')}    ...\n"
    assert len(await questions_of_all(text, was_asked=False)) == 3


async def questions_of_all(text: str, *, was_asked: bool) -> list[ChatTurn | None]:
    turns: list[ChatTurn | None] = []

    async def fill(request: Fill, on_step: object = None) -> Filled:
        turns.append(request.asked)
        return filled_with("return width", was_asked=was_asked)

    python = language_for_id("python")
    context = FillContext(ask=fill, language=python, options=FillOptions())
    await fill_all(context, text, find_holes(text, python))
    return turns
