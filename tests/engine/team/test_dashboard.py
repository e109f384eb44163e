"""What the dashboard and Prometheus ask for is what an engine and the Compose file have."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from checkout import ROOT

from intarsia.engine.config import EngineConfig
from intarsia.engine.team.keys import line_of, new_key
from intarsia.engine.team.serve import TeamOptions, team_engine

COMPOSE = ROOT / "deploy" / "compose"
DASHBOARD = COMPOSE / "grafana" / "dashboards" / "intarsia.json"

NAME = re.compile(r"\bintarsia_\w+")


def expressions() -> Iterator[str]:
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


@pytest.fixture
def exported(tmp_path: Path) -> dict[str, str]:
    """The type of each metric of an engine, by the name that Prometheus keeps it under."""
    keys = tmp_path / "keys"
    keys.write_text(line_of("ann", new_key()))
    keys.chmod(0o600)
    text = team_engine(EngineConfig(), TeamOptions(keys=keys)).metrics.as_text().decode()
    return dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))


def test_the_dashboard_shows_what_an_engine_exports(exported: dict[str, str]) -> None:
    asked = {name for expression in expressions() for name in NAME.findall(expression)}
    assert len(asked) > 6
    for name in asked:
        family = name.removesuffix("_bucket")
        assert family in exported, name
        assert (exported[family] == "histogram") == name.endswith("_bucket"), name


def test_rates_are_of_counters(exported: dict[str, str]) -> None:
    for expression in expressions():
        for name in NAME.findall(expression):
            is_counted = exported[name.removesuffix("_bucket")] in ("counter", "histogram")
            assert is_counted == (f"rate({name}" in expression), expression


def test_prometheus_asks_every_engine_of_the_compose_file() -> None:
    services = yaml.safe_load((COMPOSE / "compose.yaml").read_text())["services"]
    engines = {
        name
        for name, service in services.items()
        if service["image"] == "intarsia-team" and "entrypoint" not in service
    }
    [scrape] = yaml.safe_load((COMPOSE / "prometheus.yml").read_text())["scrape_configs"]
    [static] = scrape["static_configs"]
    assert set(static["targets"]) == {f"{name}:8420" for name in engines}
    proxy = services["haproxy"]["environment"]
    assert {proxy["ENGINE_ONE"], proxy["ENGINE_TWO"]} == set(static["targets"])
    mounted = dict(volume.split(":")[:2] for volume in services["prometheus"]["volumes"])
    assert mounted["./prometheus.key"] == scrape["authorization"]["credentials_file"]


def test_what_the_compose_file_mounts_is_here_or_made_by_its_first_lines() -> None:
    path = COMPOSE / "compose.yaml"
    text = path.read_text()
    for service in yaml.safe_load(text)["services"].values():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            if source.startswith("."):
                made = f"deploy/compose/{source.removeprefix('./')}"
                assert (COMPOSE / source).exists() or made in text.partition("\n\n")[0], source


def test_the_model_is_fetched_where_there_is_a_way_out_and_before_an_engine_needs_it() -> None:
    compose = yaml.safe_load((COMPOSE / "compose.yaml").read_text())
    services = compose["services"]
    model, one, two = (services[name] for name in ("model", "one", "two"))
    assert model["networks"] == ["outside"] and compose["networks"]["outside"] is None
    assert model["volumes"] == one["volumes"] == two["volumes"]
    assert one["depends_on"] == {"model": {"condition": "service_completed_successfully"}}
    assert two["depends_on"] == {"one": {"condition": "service_healthy"}}
    for engine in (one, two):
        assert engine["networks"] == ["engines"] and compose["networks"]["engines"]["internal"]
