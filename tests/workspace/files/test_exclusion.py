"""Which files of an opened folder may be read, and which never reach the model."""

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.workspace.files.exclusion import (
    SECRETS,
    _matches,
    excluding_pattern,
    excluding_pattern_on_disk,
)
from intarsia.workspace.files.file_rules import MAX_DEPTH, FileRules
from intarsia.workspace.files.paths import RootSettings

PROJECT = PurePosixPath("/home/me/project")
NAMES_OF_SECRETS = """
    .env .env.local prod.env /home/me/.ssh/config /home/me/.ssh/id_rsa /home/me/Keys/readme.md
    /home/me/SERVER.PEM /secrets/token.txt .npmrc .htpasswd infra/prod.tfvars
    infra/prod.auto.tfvars.json infra/terraform.tfstate.backup credentials gcp-credentials.json
    Credentials.csv kubeconfig staging.kubeconfig.yaml deploy/secrets.yml deploy/db-secret.yaml
    app_secrets.toml client_secret_12.apps.example.json service-account-prod.json
    service_account.json passwords.txt /home/me/.pypirc /home/me/.netrc /home/me/_netrc
    /home/me/.pgpass /home/me/.my.cnf /home/me/.git-credentials id_rsa_github id_ed25519.old
    id_ecdsa_sk AuthKey.p8 vault.kdbx client.ovpn secrets.prod.yaml secret-values.yaml
    secrets2.yaml credentials.yml.enc serviceAccountKey.json x-firebase-adminsdk-1a.json
    clientSecret.json appsettings.Production.json local.settings.json Pulumi.prod.yaml
    password.json api_keys.json tokens.yml oauth.json auth.toml vault.yml dump.sql
    db_dump-2024.sql docker-compose.override.yml env.production prod.env.bak config.env.yaml .env~
    server.key.old server.pem.bak .vault_pass deploy_rsa password.txt apikey.txt slack-token.txt
    pip.conf .m2/settings.xml gradle.properties .config/gh/hosts.yml .dockerconfigjson
    .psql_history .yarnrc.yml .env.example.local .env.example.bak .env.examples.of.me keys/.env.dist
"""

ORDINARY_NAMES = """
    environment.py monkeys/a.py keys.py /private/var/folders/x/a.py credentials.py
    credentials_provider.ts secrets.go service_account.rb kubeconfig.go id_map.ts id_generator.py
    passwords.sql tokens.json main.tf npmrc.md secretary.json env.ts vite-env.d.ts monkey.json
    design-tokens.json tokenizer.json authors.yml compose.yaml pulumi.yaml appsettings.json
    schema.sql config.prod.json README.txt dumps.py history.py credentials.test.ts
    .env.example .env.sample .env-template sample.env env.dist .env.example.j2 .env.prod.example
"""


@pytest.mark.parametrize("name", NAMES_OF_SECRETS.split())
def test_secrets_are_excluded_by_default(name: str) -> None:
    assert excluding_pattern(PROJECT / name, SECRETS) is not None


@pytest.mark.parametrize("name", ORDINARY_NAMES.split())
def test_ordinary_sources_are_not(name: str) -> None:
    assert excluding_pattern(PROJECT / name, SECRETS) is None


def test_copies_are_of_secrets_alone() -> None:
    path = PurePosixPath("/home/me/project/config.prod.json")
    assert excluding_pattern(path, (*SECRETS, "config.json")) is None


@pytest.mark.parametrize("patterns", [(".env*", *SECRETS), (".env*",), ("*.example", *SECRETS)])
def test_the_users_own_pattern_excludes_the_template_of_an_environment(patterns) -> None:
    assert excluding_pattern(PROJECT / ".env.example", patterns) == patterns[0]


@pytest.mark.parametrize("target", [".env", ".ssh/config"])
def test_a_link_to_a_secret_is_one(tmp_path: Path, target: str) -> None:
    secret, link = tmp_path / target, tmp_path / "linked" / "notes.py"
    for path in (secret, link):
        path.parent.mkdir(exist_ok=True)
    secret.touch()
    link.symlink_to(secret)
    assert excluding_pattern(link, SECRETS) is None
    assert excluding_pattern_on_disk(link, SECRETS) is not None
    (tmp_path / "folder").symlink_to(secret.parent)
    assert excluding_pattern_on_disk(tmp_path / "folder" / secret.name, SECRETS) is not None


def test_a_file_that_cannot_be_followed_is_judged_by_its_name(tmp_path: Path) -> None:
    loop = tmp_path / "loop.py"
    loop.symlink_to(loop)
    for path in (loop, tmp_path / "new.py", PurePosixPath("/a\0b.py")):
        assert excluding_pattern_on_disk(path, SECRETS) is None


@pytest.mark.parametrize(
    ("pattern", "is_excluded"),
    [
        ("*.py", True),
        ("A.PY", True),
        ("project/", True),
        ("src/a.py", True),
        ("src/*.py", True),
        ("/home/me/*", True),
        ("me/project/", True),
        ("rc/a.py", False),
        ("a.py/", False),
        ("*.js", False),
    ],
)
def test_patterns_name_files_paths_and_directories(pattern: str, is_excluded: bool) -> None:
    path = PurePosixPath("/home/me/project/src/a.py")
    assert (excluding_pattern(path, [pattern]) is not None) == is_excluded


def test_windows_paths_are_read_with_slashes() -> None:
    path = PureWindowsPath(r"C:\work\Keys\a.py")
    assert excluding_pattern(path, SECRETS) == "keys/"


@given(
    parts=st.lists(st.sampled_from(["a", "b", "A", ".env", "x.key", "keys"]), max_size=4),
    patterns=st.lists(
        st.sampled_from(["a", "a/", "a/b", "*.key", "keys/", "/a/*", "A/*/b", "[", "?", ""])
    ),
    is_absolute=st.booleans(),
)
def test_the_expression_for_all_patterns_misses_no_match(parts, patterns, is_absolute):
    path = PurePosixPath("/" if is_absolute else "", *parts)
    one_by_one = [it for it in patterns if _matches(path.as_posix().casefold(), it.casefold())]
    assert excluding_pattern(path, patterns) == (one_by_one[0] if one_by_one else None)


def rules_of(root: Path, **settings: object) -> FileRules:
    return FileRules(
        RootSettings(path=str(root), **settings),
        lambda name: name.endswith((".py", ".json", ".lock.yaml", ".js")),
    )


def reason(root: Path, name: str, **settings: object) -> str | None:
    path = root / name
    if not path.parent.is_symlink():
        path.parent.mkdir(parents=True, exist_ok=True)
    return rules_of(root, **settings).why_not(path.as_posix())


def test_a_source_file_may_be_read(tmp_path: Path):
    assert reason(tmp_path, "src/app/main.py") is None


def test_a_file_of_no_known_language_may_not(tmp_path: Path):
    assert reason(tmp_path, "photo.png") == "not in a known language"


@pytest.mark.parametrize(
    "name", ["auth.json", "AUTH.JSON", "secrets/a.py", "src/Secrets/a.py", ".ssh/a.py", ".env.py"]
)
def test_a_secret_may_not_be_read_whatever_its_case(tmp_path: Path, name: str):
    assert str(reason(tmp_path, name)).startswith("excluded by the pattern")


def test_the_user_may_allow_secrets_and_exclude_more(tmp_path: Path):
    assert reason(tmp_path, "secrets/a.py", exclude_secrets=False) is None
    assert reason(tmp_path, "internal/a.py", exclude=("internal/",)) is not None
    excluded = (str(tmp_path / "inner"), str(tmp_path / "one.py"))
    assert reason(tmp_path, "inner/a.py", excluded_paths=excluded) == "excluded by the settings"
    assert reason(tmp_path, "one.py", excluded_paths=excluded) == "excluded by the settings"
    assert reason(tmp_path, "inner2/a.py", excluded_paths=excluded) is None


@pytest.mark.parametrize(
    "folder", ["node_modules", "sub/.venv", "build", "Build", "dist", "__pycache__", "a/target"]
)
def test_folders_of_tools_and_builds_are_left_out(tmp_path: Path, folder: str):
    assert reason(tmp_path, f"{folder}/a.py") == "a folder of tools or builds"


def test_an_own_rule_asks_for_a_folder_that_is_left_out(tmp_path: Path):
    (tmp_path / ".intarsiaignore").write_text("!build/\n!.git/\n")
    assert reason(tmp_path, "build/a.py") is None
    assert reason(tmp_path, ".git/hooks/a.py") == "part of a version control system"


@pytest.mark.parametrize("marker", ["pyvenv.cfg", "CACHEDIR.TAG"])
def test_a_folder_that_a_tool_has_marked_is_left_out(tmp_path: Path, marker: str):
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / marker).touch()
    assert reason(tmp_path, "env/lib/a.py") == "in a tool's folder"
    assert reason(tmp_path, "environment/a.py") is None


@pytest.mark.parametrize("name", ["package-lock.json", "a/app.min.js", "x_pb2.py"])
def test_generated_files_are_left_out_by_their_names(tmp_path: Path, name: str):
    assert reason(tmp_path, name) == "generated"


@pytest.mark.parametrize("path", ["/etc/a.py", "../a.py", "sub/../../a.py", "a\0.py", "\udcff.py"])
def test_nothing_outside_of_the_folder_may_be_read(tmp_path: Path, path: str):
    at = path if path.startswith("/") else f"{tmp_path.as_posix()}/{path}"
    assert rules_of(tmp_path).why_not(at) == "outside the opened folder"


def test_a_folder_with_the_same_beginning_is_outside(tmp_path: Path):
    rules = rules_of(tmp_path / "app")
    assert rules.why_not((tmp_path / "app2" / "a.py").as_posix()) == "outside the opened folder"


def test_a_link_is_not_followed_wherever_it_leads(tmp_path: Path):
    (tmp_path / "auth.json").write_text("{}")
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_text("")
    (tmp_path / "plain.py").symlink_to(tmp_path / "auth.json")
    (tmp_path / "out.py").symlink_to("/etc/passwd")
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    for name in ("plain.py", "out.py", "linked/a.py"):
        assert rules_of(tmp_path).why_not((tmp_path / name).as_posix()) == "a link", name
    assert rules_of(tmp_path).why_not((tmp_path / "real" / "a.py").as_posix()) is None


def test_an_opened_folder_may_be_a_link_unless_it_leads_to_secrets(tmp_path: Path):
    for name in ("project", "secrets"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("")
        (tmp_path / f"to_{name}").symlink_to(tmp_path / name)
    to_project, to_secrets = tmp_path / "to_project", tmp_path / "to_secrets"
    assert rules_of(to_project).why_not((to_project / "a.py").as_posix()) is None
    assert rules_of(to_secrets).why_not((to_secrets / "a.py").as_posix()) is not None


def test_a_file_in_too_deep_a_folder_is_left_out(tmp_path: Path):
    assert reason(tmp_path, "d/" * MAX_DEPTH + "a.py") is None
    assert reason(tmp_path, "d/" * (MAX_DEPTH + 1) + "a.py") == "too deep"
