"""``python tests/support/settings_table.py``: print the settings as docs/settings.md has them.

``--vim-help`` prints the list in Neovim's help (editors/nvim/doc/intarsia.txt) instead.
"""

import sys
import textwrap
from collections.abc import Mapping
from typing import Any

import msgspec

from intarsia.lsp.settings import CHOICES, Settings

_MARKDOWN_WIDTH = 100
_VIM_WIDTH = 78
_SCOPES = {"resource": "Per folder", "language-overridable": "Per folder and language"}
_MARKDOWN_HEAD = """\
# Settings

The server takes these settings from every editor: VS Code as `intarsia.debounceMs` and so on,
other editors as the section `intarsia` of the server's configuration or as initialization options
([editors.md](editors.md) has an example for each). An invalid value is reported in the log, and
ignored.

**Several folders in one window.** A setting *per folder* may have another value in each opened
folder, and holds for that folder's documents. All others hold for the whole window: no folder
chooses the model. VS Code reads a folder's values from its `.vscode/settings.json`; those that name
models, files to read or data kept on disk count only in a workspace that you trust. Other clients
answer `workspace/configuration` for each folder's URI (`scopeUri`). [editors.md](editors.md) says
which editors do.

**Languages.** A setting *per language* may have another value in each language. VS Code takes it as
`"[python]": {"intarsia.inStrings": false}`. Every editor can send it in the setting
[`languages`](#languages), by the language identifiers that the editor gives its documents.

This page is generated from [`lsp/settings.py`](../lsp/settings.py):
`.venv/bin/python tests/support/settings_table.py > docs/settings.md`.
"""


def schema() -> Mapping[str, Mapping[str, Any]]:
    """Return the JSON schema of each setting by its key, in the order of ``Settings``."""
    as_json = msgspec.json.encode(msgspec.json.schema(Settings))
    properties: Mapping[str, Mapping[str, Any]]
    properties = msgspec.json.decode(as_json)["$defs"]["Settings"]["properties"]
    return properties


def markdown() -> str:
    """Return the text of docs/settings.md."""
    return "\n".join([_MARKDOWN_HEAD, *(_markdown_section(key) for key in schema())])


def vim_help() -> str:
    """Return the settings as Neovim's help lists them."""
    return "".join(_vim_section(key) for key in schema())


def _markdown_section(key: str) -> str:
    setting = schema()[key]
    lines = [f"## `{key}`", "", textwrap.fill(setting["description"], _MARKDOWN_WIDTH), ""]
    if key in CHOICES:
        lines += [f"- `{name}`: {text}" for name, text in CHOICES[key].items()]
    else:
        lines.append(f"- Type: {type_in_words(setting)}")
    lines.append(f"- Default: `{_as_json(setting['default'])}`")
    if (scope := _SCOPES.get(setting.get("scope", ""))) is not None:
        lines.append(f"- {scope}")
    lines.append("")
    return "\n".join(lines)


def _vim_section(key: str) -> str:
    setting = schema()[key]
    about = f"{setting['description']} "
    if key in CHOICES:
        about += " ".join(f'"{name}": {text}' for name, text in CHOICES[key].items())
        about += f" Default: {_as_json(setting['default'])}."
    else:
        about += f"({type_in_words(setting)}; default: {_as_json(setting['default'])})"
    if (scope := _SCOPES.get(setting.get("scope", ""))) is not None:
        about += f" {scope}."
    indent = " " * 8
    body = textwrap.fill(
        about, _VIM_WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    return f"    {key}\n{body}\n"


def type_in_words(setting: Mapping[str, Any]) -> str:
    """Return a setting's type and range, such as "integer, 1 to 10"."""
    if "anyOf" in setting:
        return " or ".join(type_in_words(choice) for choice in setting["anyOf"])
    if setting["type"] == "array":
        return "list of strings"
    if setting["type"] == "object":
        return "values of settings by language"
    words = str(setting["type"])
    if "exclusiveMinimum" in setting:
        return f"{words}, above {setting['exclusiveMinimum']} and up to {setting['maximum']}"
    if "minimum" in setting:
        return f"{words}, {setting['minimum']} to {setting['maximum']}"
    return words


def _as_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


if __name__ == "__main__":
    sys.stdout.write(vim_help() if "--vim-help" in sys.argv else markdown())
