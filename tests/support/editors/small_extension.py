"""Packs an extension of one file, which a test or a benchmark puts into VS Code beside ours."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

_PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="{name}" Version="0.0.1" Publisher="intarsia"/>
    <DisplayName>{name}</DisplayName>
    <Description>{name}</Description>
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


def write_extension(folder: Path, name: str, program: str, more: Mapping[str, object]) -> Path:
    """Write a program as a .vsix; return its path. ``more`` is added to its manifest."""
    manifest = {
        "name": name,
        "publisher": "intarsia",
        "version": "0.0.1",
        "engines": {"vscode": "^1.91.0"},
        "main": "./extension.js",
        **more,
    }
    path = folder / f"{name}.vsix"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("extension/package.json", json.dumps(manifest))
        package.writestr("extension/extension.js", program)
        package.writestr("extension.vsixmanifest", _PACKAGE.format(name=name))
        package.writestr("[Content_Types].xml", _TYPES)
    return path
