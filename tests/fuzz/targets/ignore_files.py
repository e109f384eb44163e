"""An ignore file of any content, and paths that its rules are asked about.

Whatever the rules are, secrets stay excluded.
"""

from harness.byte_reader import ByteReader
from harness.scratch import scratch
from harness.target import Target

from intarsia.workspace.files.file_rules import FileRules
from intarsia.workspace.files.root_settings import RootSettings

PIECES = (
    "*",
    "**",
    "**/",
    "/",
    "?",
    "[a-z]",
    "[!",
    "]",
    "\\",
    "!",
    "#",
    " ",
    "\n",
    "a",
    "ab",
    ".py",
)
PIECES += (
    "src/",
    "a*",
    "*a",
    "{a,b}",
    "\r\n",
    "\t",
    "é",
    "[[:alpha:]]",
    "**/**/",
    "secrets/",
    ".env",
)
NAMES = (
    "a",
    "ab",
    "src",
    "a" * 60,
    "é",
    "a.py",
    "aaaa.py",
    ".env",
    "id_rsa",
    "x y",
    "[a]",
    "secrets",
)
SECRETS = (".env", "id_rsa", "src/.env", "secrets/a.py", "a/b/c.pem")


def check(data: bytes) -> None:
    """Write the file, and ask for some paths."""
    reader = ByteReader(data)
    root = scratch() / "root"
    root.mkdir(exist_ok=True)
    name = reader.pick((".gitignore", ".intarsiaignore"))
    rules_text = reader.pieces(PIECES, 60)
    for other in (".gitignore", ".intarsiaignore"):
        (root / other).write_text(rules_text if other == name else "")
    settings = RootSettings(
        path=root.as_posix(), exclude=(reader.pieces(PIECES, 8),), exclude_secrets=True
    )
    rules = FileRules(settings, is_source=lambda _: True)
    for _ in range(3):
        path = "/".join(reader.pick(NAMES) for _ in range(1 + reader.byte() % 3))
        rules.why_not(f"{root.as_posix()}/{path}")
    for secret in SECRETS:
        assert rules.why_not(f"{root.as_posix()}/{secret}") is not None


TARGET = Target(
    about="ignore files, patterns of exclusion and secrets",
    check=check,
    seeds=[
        b"\x00\x09\x00\x0f\x0c\x02\x0d\x0e\x0c\x09\x0e\x02\x00\x01\x02\x03\x04",
        b"\x01\x08\x09\x1a\x0c\x09\x19\x01\x02\x03\x04\x05\x01\x01\x03",
        b"\x00\x1c" + b"\x11\x12" * 14 + b"\x01\x03\x00\x03",
    ],
    watched=["intarsia.workspace.files"],
    weight=2,
)
