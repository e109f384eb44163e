"""A model's name, and the tuning that is added to it."""

import pytest

from intarsia.engine.model_store.catalog import split_tuning, without_tuning


@pytest.mark.parametrize(
    ("model", "plain", "added"),
    [
        ("qwen", "qwen", None),
        ("qwen+none", "qwen", "none"),
        ("qwen+/a/t.safetensors", "qwen", "/a/t.safetensors"),
        ("qwen+none+/a/t.safetensors", "qwen+none", "/a/t.safetensors"),
        ("/models/c++/toy", "/models/c++/toy", None),
        ("/models/c++/toy+/a+b/t.safetensors", "/models/c++/toy", "/a+b/t.safetensors"),
        ("owner/name+t.safetensors", "owner/name+t.safetensors", None),
        ("+/a/t.safetensors", "+/a/t.safetensors", None),
    ],
)
def test_the_text_after_the_plus_is_a_full_path_or_none(
    model: str, plain: str, added: str | None
) -> None:
    assert split_tuning(model) == (plain, added)


def test_only_a_tuning_of_the_users_own_is_removed() -> None:
    assert without_tuning("qwen+/a/t.safetensors") == "qwen"
    assert without_tuning("qwen+none") == "qwen+none"
    assert without_tuning("qwen+none+/a/t.safetensors") == "qwen+none"
    assert without_tuning("qwen") == "qwen"
