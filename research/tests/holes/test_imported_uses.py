"""Which uses of imported names are found, and which are not."""

import pytest

from intarsia_research.holes.imported_uses import Package


def uses(texts: dict[str, str], path: str) -> list[tuple[str, int, str]]:
    """Return name, line (from 1) and defining file of each use."""
    found = Package(texts).uses(path).uses
    return [(use.name, texts[path].count("\n", 0, use.start) + 1, use.defined_in) for use in found]


PYTHON = {
    "pkg/__init__.py": "from .shapes import Circle\nfrom .units import *\n",
    "pkg/shapes.py": "class Circle:\n    pass\n\n\nRED: int = 1\n",
    "pkg/units.py": "def metres(value):\n    return value\n",
    "other.py": "from pkg.shapes import Circle\n",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from .shapes import Circle\nx = Circle()\n", [("Circle", 2, "pkg/shapes.py")]),
        ("from pkg.shapes import RED\nprint(RED)\n", [("RED", 2, "pkg/shapes.py")]),
        ("from . import Circle\nx = Circle()\n", [("Circle", 2, "pkg/shapes.py")]),
        ("from . import metres\nx = metres(1)\n", [("metres", 2, "pkg/units.py")]),
        (
            "if TYPE_CHECKING:\n    from .shapes import Circle\ndef f(x: Circle): ...\n",
            [("Circle", 3, "pkg/shapes.py")],
        ),
        ("é = 'é'\nfrom .shapes import Circle\nx = Circle()\n", [("Circle", 3, "pkg/shapes.py")]),
        # renamed, so that the other file's name is not needed
        ("from .shapes import Circle as C\nx = C()\n", []),
        # an attribute, a keyword, a string or a comment is no use
        ("from .shapes import Circle\nx.Circle(Circle=1)\n'Circle'  # Circle\n", []),
        # the file gives the name another meaning
        ("from .shapes import Circle\ndef f(Circle):\n    return Circle\n", []),
        ("from .shapes import Circle\nCircle = 1\nprint(Circle)\n", []),
        # not of this package, not defined there, or broken
        ("from os import path\nprint(path)\n", []),
        ("from .shapes import Square\nx = Square()\n", []),
        ("from .shapes import Circle\nx = Circle(\n", []),
    ],
)
def test_a_name_is_followed_to_the_python_file_that_defines_it(text, expected) -> None:
    assert uses({**PYTHON, "pkg/here.py": text}, "pkg/here.py") == expected


def test_files_that_pass_a_name_round_in_a_circle_define_nothing() -> None:
    texts = {"a.py": "from b import X\nx = X\n", "b.py": "from a import X\n"}
    assert uses(texts, "a.py") == []


TYPESCRIPT = {
    "src/index.ts": "export { area } from './shapes.js';\nexport * from './units';\n",
    "src/shapes.ts": "export interface Circle { r: number }\nfunction area(c: Circle) {}\n"
    "export { area };\n",
    "src/units/index.ts": "export const METRE = 1, FOOT = 2;\n",
    "src/view.tsx": "export const View = () => <b/>;\n",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import type { Circle } from './shapes';\nlet c: Circle;\n", ("Circle", "src/shapes.ts")),
        ("import { area } from './shapes.ts';\narea(1);\n", ("area", "src/shapes.ts")),
        ("import { area } from './index.js';\narea(1);\n", ("area", "src/shapes.ts")),
        ("import { FOOT } from './units';\nf(FOOT);\n", ("FOOT", "src/units/index.ts")),
        ("import { METRE } from '.';\nf(METRE);\n", ("METRE", "src/units/index.ts")),
        ("import { View } from './view';\nf(View);\n", ("View", "src/view.tsx")),
        ("import { area } from './shapes';\nconst o = { area };\n", None),
        ("import { area as a } from './shapes';\na(1);\n", None),
        ("import { area } from './shapes';\no.area(1);\n", None),
        ("import { area } from './shapes';\nconst area = 1;\nf(area);\n", None),
        ("import { area } from './shapes';\nexport { area };\n", None),
        ("import { area } from 'shapes';\narea(1);\n", None),
        ("import { area } from './missing';\narea(1);\n", None),
    ],
)
def test_a_name_is_followed_to_the_typescript_file_that_defines_it(text, expected) -> None:
    path = "src/here.ts"
    found = [(name, file) for name, _, file in uses({**TYPESCRIPT, path: text}, path)]
    assert found == ([] if expected is None else [expected])


def test_imports_are_told_so_that_a_name_in_them_is_no_known_use() -> None:
    text = "import { area } from './shapes';\n\narea(1);\n"
    found = Package({**TYPESCRIPT, "src/here.ts": text}).uses("src/here.ts")
    assert [text[start:end] for start, end in found.imports] == ["import { area } from './shapes';"]


def test_a_language_without_such_a_reader_has_no_uses() -> None:
    assert Package({"a.rs": "use b::C;\n"}).uses("a.rs").uses == ()
