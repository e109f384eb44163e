"""A certificate of the test's own, as a server of 127.0.0.1 has."""

import subprocess
from pathlib import Path


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Return a self-signed certificate for 127.0.0.1, and its key (PEM)."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 2"
    names = ["-subj", "/CN=x", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-out", str(cert), "-keyout", str(key)]
    subprocess.run([*make.split(), *names, *files], check=True, capture_output=True)
    return cert, key
