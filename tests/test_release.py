"""What is published has addresses that lead to its repository; its workflows are sound."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from checkout import ROOT

from deploy.release import with_repository, with_urls, with_whole_links

URL, TAG = "https://host.example/owner/name", "v1.2.3"
WHOLE = re.compile(rf"{URL}/(?:blob|raw)/{TAG}/([^)#\s]+)")


@pytest.mark.parametrize("folder", [".", "editors/vscode"])
def test_no_link_of_a_published_page_is_relative_and_each_leads_to_a_file(folder: str) -> None:
    text = (ROOT / folder / "README.md").read_text()
    whole = with_whole_links(text, folder, URL, TAG)
    targets = re.findall(r"\]\(([^)\s]+)\)", whole)
    assert targets
    assert [it for it in targets if "://" not in it and not it.startswith("#")] == []
    paths = WHOLE.findall(whole)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_pictures_are_linked_by_their_bytes_and_pages_to_be_read() -> None:
    text = "![a](img/a.png) [b](../b.md#c) [d](#d) [e](https://e.example)"
    whole = with_whole_links(text, "docs", URL, TAG)
    assert whole == (
        f"![a]({URL}/raw/{TAG}/docs/img/a.png) [b]({URL}/blob/{TAG}/b.md#c) [d](#d) "
        "[e](https://e.example)"
    )


def test_wheel_and_extension_name_the_repository() -> None:
    project = tomllib.loads(with_urls((ROOT / "pyproject.toml").read_text(), URL, TAG))["project"]
    assert project["urls"]["Changelog"] == f"{URL}/blob/{TAG}/CHANGELOG.md"
    assert project["scripts"] == {"intarsia": "intarsia.cli.main:main"}
    before = (ROOT / "editors/vscode/package.json").read_text()
    manifest = json.loads(with_repository(before, URL))
    assert manifest["repository"]["url"] == f"{URL}.git"
    assert manifest["bugs"]["url"] == f"{URL}/issues"
    assert manifest["version"] == project["version"]


def test_make_help_says_what_each_target_is_for() -> None:
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(lines := done.stdout.splitlines()) > 30
    assert not [line for line in lines if len(line.split(maxsplit=2)) < 3]


WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_asks_for_few_rights_and_runs_what_is_there(path: Path) -> None:
    text = path.read_text()
    workflow = yaml.safe_load(text)
    is_split = path.stem == "nvim"
    assert workflow["permissions"] == {"contents": "write" if is_split else "read"}
    targets = re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert set(re.findall(r"\bmake ([a-z][\w-]*)", text)) <= set(targets)
    for name in re.findall(r"(?:python |run: |prefix=)((?:\w|\.ci)[\w./-]*/[\w./-]+)", text):
        assert (ROOT / name).exists(), name
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
