"""Texts that hold a secret, and texts that only speak of one."""

import pytest

from intarsia.infill.languages import language_for_path
from intarsia.workspace.files.secret_text import holds_secret

RANDOM = "a1B2c3D4e5" * 4  # no example here may look like a real key to a scanner of this code
SECRETS = [
    ("a.py", f'KEY = """-----BEGIN {kind}PRIVATE KEY-----\nMIIE"""')
    for kind in ("", "RSA ", "EC ", "OPENSSH ")
] + [
    ("a.json", '{"type": "service_account", "project_id": "x"}'),
    ("a.py", "INFO = {'type': 'service_account'}"),
    *(("a.go", f'const k = "{key}"') for key in ("AKIA" + "Q7" * 8, "ghp_" + RANDOM)),
    *(("a.ts", f"call('{key}')") for key in ("xoxb-" + RANDOM, "sk-proj-" + RANDOM)),
    ("a.rb", f"get 'eyJ{RANDOM}.eyJ{RANDOM}.{RANDOM}'"),
    ("a.py", f'DB_PASSWORD = "{RANDOM[:12]}"'),
    ("a.py", f"settings['api_key'] = '{RANDOM}'"),
    ("a.ts", f'const clientSecret: string = "x";\nlet opts = {{ authToken: "{RANDOM}" }}'),
    ("a.go", f'token := "{RANDOM}"'),
    ("a.cs", 'new Sql("Server=db;User Id=sa;Password=hunter2_conn;")'),
    ("a.py", 'connect("postgres://app:hunter2_db@db.internal/app")'),
    ("a.json", '{"ConnectionStrings": {"Main": "Server=db;Password=hunter2_conn"}}'),
    ("a.json", '{"smtp": {"password": "hunter2"}}'),
    ("a.yaml", "db:\n  password: hunter2x # of the test system\n"),
    ("a.yaml", "apiVersion: v1\nkind: Secret\ndata:\n  a: aHVudGVyMg==\n"),
    ("a.toml", "secret_key = 'h2nter'\n"),
    ("a.sh", "export API_TOKEN=a1b2c3d4e5\n"),
    ("a.md", "Use `curl`, with API_KEY=a1b2c3d4\n"),
    ("a.sql", "CREATE USER app IDENTIFIED BY 'hunter2!';"),
]
NONE = [
    ("a.py", 'password = getpass("Password: ")\ntoken = request.headers["X-Token-Of-2"]'),
    ("a.py", 'TOKEN_URL = "https://example.com/oauth2/token"\nSECRET_NAME = "prod/db-1"'),
    ("a.py", 'PASSWORD = "your-password-123"; TOKEN = "<token-of-2024>"; KEY = f"{key}-12345678"'),
    ("a.ts", "const token = `${header}.${payload}.${signature2}`"),
    ("a.java", 'String token = "authorization_header"; String secret = "django.core.signing";'),
    (
        "a.json",
        '{"password": "Password", "token": "Your token", "secret": null, "a-token": 12345678}',
    ),
    ("a.json", '{"dependencies": {"jsonwebtoken": "^9.0.2", "js-tokens": "4.0.0"}}'),
    ("a.yaml", "password: ${DB_PASSWORD_1}\ntoken: !Ref Token12\nsecretName: app-secret-1\n"),
    ("a.yaml", "env:\n  token: ${{ secrets.TOKEN_1 }}\nkind: SecretStore\n"),
    ("a.sh", 'TOKEN=$(cat /run/token1)\nPASSWORD="$1"\n'),
    ("a.md", "`postgres://user:password@localhost/db`, `token: <your token1>`"),
    ("a.py", "key = 'sk-loading-spinner-container-large'"),
]


@pytest.mark.parametrize(("name", "text"), SECRETS)
def test_a_secret_is_known_by_its_text(name: str, text: str) -> None:
    assert holds_secret(f"before\n{text}\nafter\n", language_for_path(name).has_bare_values)


@pytest.mark.parametrize(("name", "text"), NONE)
def test_what_speaks_of_secrets_holds_none(name: str, text: str) -> None:
    assert not holds_secret(f"before\n{text}\nafter\n", language_for_path(name).has_bare_values)
