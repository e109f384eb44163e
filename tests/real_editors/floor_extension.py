"""An extension that answers every request for ghost text at once: how soon VS Code can show one."""

import json
import zipfile
from pathlib import Path

_MANIFEST = {
    "name": "floor",
    "publisher": "intarsia",
    "version": "0.0.1",
    "engines": {"vscode": "^1.91.0"},
    "main": "./extension.js",
    "activationEvents": ["onStartupFinished"],
}
_PROGRAM = """
const { InlineCompletionItem, languages, Range, StatusBarAlignment, window } = require("vscode");
exports.activate = () => {
  const item = window.createStatusBarItem("intarsia.floor", StatusBarAlignment.Right);
  item.text = "$(check)";
  item.show();
  languages.registerInlineCompletionItemProvider({ pattern: "**" }, {
    provideInlineCompletionItems: (document, at) =>
      [new InlineCompletionItem("left + right", new Range(at, at))],
  });
};
"""
_PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="floor" Version="0.0.1" Publisher="intarsia"/>
    <DisplayName>floor</DisplayName>
    <Description>floor</Description>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json"
      Addressable="true"/>
  </Assets>
</PackageManifest>
"""
_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".json" ContentType="application/json"/>
  <Default Extension=".js" ContentType="application/javascript"/>
  <Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
"""


def write_floor_extension(path: Path) -> Path:
    """Write the extension as a .vsix; return its path."""
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("extension/package.json", json.dumps(_MANIFEST))
        package.writestr("extension/extension.js", _PROGRAM)
        package.writestr("extension.vsixmanifest", _PACKAGE)
        package.writestr("[Content_Types].xml", _TYPES)
    return path
