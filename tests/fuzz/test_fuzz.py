"""The targets of `make fuzz` are property tests that exist."""

import pytest
from fuzz import ROOT, TARGETS


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_a_target_is_a_property_test(target: str) -> None:
    path, _, function = target.partition("::")
    before, _, after = (ROOT / path).read_text(encoding="utf-8").partition(f"\ndef {function}(")
    assert after
    assert "\n@given(" in before.rpartition("\n\n\n")[2].join(["\n", ""])
