"""A correction is a version of the lines that it replaces, not other code in their place."""

import pytest

from intarsia.infill.next_edit.likeness import is_alike


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y = old(3)", "y = new(3)"),
        ("    parser = OptionParser()", "    parser = _OptionParser()"),
        ("    return decorator  # type: ignore[return-value]", "    return decorator"),
        ('if f.Value.Type() == "stringArray" {', "if isRepeated(f) {"),
        ("f(a, b)", "f(\n    a,\n    b,\n)"),
        ("old", "new"),
        ("}", "});"),
        ("", "added = 1"),
        ("removed = 1", ""),
        ("", ""),
    ],
)
def test_versions_of_the_same_code(old: str, new: str) -> None:
    assert is_alike(old.split("\n"), new.split("\n"))
    assert is_alike(new.split("\n"), old.split("\n"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            return typing.cast(float, await curio.clock())", "        else:"),
        ("package com.capacitor.audioengine;", "        // the recording shall"),
        ("namespace affineflow::ml {", "std::string Classifier::predict(\n    const Matrix& x)"),
        (
            '        ... def foo(x: int, axis: Literal[0, "obs"]):',
            "        value, *aliases = get_args(aliasset)\n        if isinstance(value, str):",
        ),
    ],
)
def test_other_code_in_the_place(old: str, new: str) -> None:
    assert not is_alike(old.split("\n"), new.split("\n"))
    assert not is_alike(new.split("\n"), old.split("\n"))
