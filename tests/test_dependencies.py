"""What is installed is pinned: each file by its hash."""

import json
import re
import tomllib

import pytest
from checkout import ROOT

VERSION = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)


def versions(name: str) -> dict[str, str]:
    """Return the versions in a file of requirements by their normalized names."""
    found = VERSION.findall((ROOT / name).read_text())
    return {re.sub(r"[-_.]+", "-", package).lower(): version for package, version in found}


@pytest.mark.parametrize("name", ["requirements", "requirements-dev"])
def test_each_locked_version_has_hashes(name: str) -> None:
    hashed = versions(f"{name}.hashed.lock")
    assert hashed == versions(f"{name}.lock"), "run `make lock`"
    text = (ROOT / f"{name}.hashed.lock").read_text()
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(hashed) > 40
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)


def test_a_plain_install_has_neither_torch_nor_what_comes_with_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {re.split(r"[^\w-]", line)[0] for line in project["dependencies"]}
    heavy = {"torch", "transformers", "scipy", "accelerate", "sympy"}
    assert not heavy & (needed | set(versions("requirements.lock")))
    assert needed <= set(versions("requirements.lock")), "each has its version"
    extra = {re.split(r"[^\w-]", line)[0] for line in project["optional-dependencies"]["torch"]}
    assert extra == {"torch", "transformers"}


def test_nothing_is_installed_without_its_hash() -> None:
    for name in (
        "editors/vscode/src/setup/privateEnvironment.ts",
        "deploy/container/Containerfile",
    ):
        named = re.findall(r"requirements[\w.-]*lock", (ROOT / name).read_text())
        assert set(named) == {"requirements.hashed.lock"}, "pip checks its hashes"
    installs = [line for line in (ROOT / "Makefile").read_text().splitlines() if ".lock" in line]
    assert [line for line in installs if "install" in line and "--require-hashes" in line]
    assert not [line for line in installs if "install" in line and "--require-hashes" not in line]


def test_each_package_of_the_extension_is_pinned_by_hash() -> None:
    lock = json.loads((ROOT / "editors" / "vscode" / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert len(packages) > 50
    for name, package in packages.items():
        assert package["integrity"].startswith("sha512-"), name


def test_an_audit_has_every_version_and_fails_where_one_is_not_known() -> None:
    recipe = (ROOT / "Makefile").read_text().partition("\naudit:")[2].partition("\n\n")[0]
    assert re.search(r"\bcat requirements\.lock requirements-dev\.lock; echo \$\(TORCH\)", recipe)
    assert "pip-audit --strict " in recipe
