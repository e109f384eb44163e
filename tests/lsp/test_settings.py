"""Options as sent become Settings; the docs and both plugins list the same ones."""

import json
import re
from collections.abc import Mapping
from typing import Any, get_args

import pytest
from checkout import ROOT
from settings_table import markdown, schema, vim_help

from intarsia.engine import config
from intarsia.engine.ipc.launch import LaunchOptions
from intarsia.lsp.settings import CHOICES, FOLDER_OPTIONS, Device, Quantize, Settings
from intarsia.lsp.settings_in_force import resolve_settings


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, Settings()),
        ({"model": None, "debounceMs": None}, Settings()),
        ({"debounceMs": 75.0, "sureConfidence": 1}, Settings(debounce_ms=75, sure_confidence=1)),
        ({"debounceMs": 0, "model": "/m"}, Settings(debounce_ms=0, model="/m")),
        ({"decoding": "autoregressive"}, Settings(decoding="autoregressive")),
        ({"exclude": ["*.sql"]}, Settings(exclude=("*.sql",))),
        *(
            ({"showThreshold": it}, Settings(show_threshold=it))
            for it in ("eager", "balanced", "subtle", "60", 60, 0)
        ),
    ],
)
def test_good_options_apply(options: Mapping[str, object], settings: Settings) -> None:
    assert resolve_settings(options) == (settings, ())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("debounceMs", -1),
        ("debounceMs", "75"),
        ("debounceMs", 75.5),
        ("deadlineMs", 0),
        ("maxCandidates", True),
        ("decoding", "quick"),
        ("decoding", "entropy"),  # a way that is gone: settings may still say it
        ("exclude", "*.py"),
        ("exclude", [1]),
        ("enabled", 1),
        ("model", ""),
        ("debounce", 5),
        ("showThreshold", "bold"),
        ("showThreshold", 101),
        ("showThreshold", 0.5),
    ],
)
def test_a_bad_option_is_reported_by_name_and_the_rest_applies(option: str, value: object) -> None:
    settings, problems = resolve_settings({option: value, "maxHoleTokens": 32})
    assert settings == Settings(max_hole_tokens=32)
    (problem,) = problems
    assert repr(option) in problem


VSCODE_TEXTS = json.loads((ROOT / "editors/vscode/package.nls.json").read_text())
VSCODE = json.loads((ROOT / "editors/vscode/package.json").read_text())
VSCODE_SETTINGS = {
    key: setting
    for group in VSCODE["contributes"]["configuration"]
    for key, setting in group["properties"].items()
}
ONLY_IN_VSCODE = {"serverCommand", "nextEditTab"}

NEOVIM_OPTIONS = (ROOT / "editors/nvim/lua/intarsia/options.lua").read_text()
RANGE = ("minimum", "exclusiveMinimum", "maximum")


def test_the_settings_page_is_current() -> None:
    how = "run: python tests/support/settings_table.py > docs/settings.md"
    assert (ROOT / "docs/settings.md").read_text() == markdown(), how


def test_neovims_help_lists_the_settings() -> None:
    how = "run: python tests/support/settings_table.py --vim-help"
    assert vim_help() in (ROOT / "editors/nvim/doc/intarsia.txt").read_text(), how


def test_vscode_has_each_setting_and_no_other() -> None:
    assert set(VSCODE_SETTINGS) == {f"intarsia.{key}" for key in {*schema(), *ONLY_IN_VSCODE}}


@pytest.mark.parametrize("key", schema())
def test_a_setting_is_the_same_in_vscode(key: str) -> None:
    ours, theirs = schema()[key], VSCODE_SETTINGS[f"intarsia.{key}"]
    kinds = ours.get("anyOf", [ours])
    kind = next(choice for choice in kinds if choice.get("type") != "null")
    may_be_null = kind is not ours and {"type": "null"} in kinds
    assert theirs["type"] == (["string", "null"] if may_be_null else kind.get("type", "string"))
    assert theirs["default"] == ours["default"]
    assert {name: theirs.get(name) for name in RANGE} == {name: ours.get(name) for name in RANGE}
    assert theirs.get("minLength") == kind.get("minLength")
    assert theirs.get("pattern") == kind.get("pattern")
    assert theirs.get("items") == kind.get("items")
    assert theirs.get("scope") == ours.get("scope")
    name = theirs.get("markdownDescription", theirs.get("description")).strip("%")
    assert VSCODE_TEXTS[name] == ours["description"]


@pytest.mark.parametrize("key", ["model", "device", "quantize"])
def test_no_workspace_chooses_the_model(key: str) -> None:
    """Not even a trusted one: its settings could name any model of a hub."""
    assert VSCODE_SETTINGS[f"intarsia.{key}"]["scope"] == "machine"
    assert key not in FOLDER_OPTIONS


def test_an_engine_is_started_with_what_the_user_chose_for_this_machine() -> None:
    assert get_args(Device) == get_args(config.Device)
    assert get_args(Quantize) == get_args(config.Quantize)
    chosen, _ = resolve_settings({"device": "cuda", "quantize": "int4"})
    flags = LaunchOptions(**chosen.of_engine, command=()).full_command()
    assert flags == ("--device", "cuda", "--quantize", "int4")
    assert Settings().of_engine == {}, "the engine chooses"


@pytest.mark.parametrize("key", [key for key, ours in schema().items() if "enum" in ours])
def test_the_choices_are_the_same_in_vscode(key: str) -> None:
    theirs = VSCODE_SETTINGS[f"intarsia.{key}"]
    texts = [VSCODE_TEXTS[name.strip("%")] for name in theirs["enumDescriptions"]]
    described = dict(zip(theirs["enum"], texts, strict=True))
    assert described == CHOICES[key]
    assert set(theirs["enum"]) == set(schema()[key]["enum"])


def test_settings_have_the_same_types_in_neovim() -> None:
    _, table = NEOVIM_OPTIONS.split("---@class intarsia.ServerSettings", 1)
    fields = re.findall(r"^---@field (\w+)\? (\S+)$", table.split("\n\n", 1)[0], re.MULTILINE)
    assert dict(fields) == {key: _lua_type(key, ours) for key, ours in schema().items()}


def _lua_type(key: str, ours: Mapping[str, Any]) -> str:
    if "enum" in ours:
        return "|".join(f'"{name}"' for name in CHOICES[key])
    if "anyOf" in ours:  # in Lua, nil is to leave it out
        return "|".join(it["type"] for it in ours["anyOf"] if it["type"] != "null")
    return {"array": "string[]", "object": "table"}.get(ours["type"], str(ours["type"]))
