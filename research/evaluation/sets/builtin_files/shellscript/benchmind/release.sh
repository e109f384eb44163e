#!/usr/bin/env bash
set -euo pipefail

# Release helper for BenchMind.
# Usage: ./scripts/release.sh <version>

VERSION="${1:-}"
if [ -z "$VERSION" ]; then
    echo "Usage: $0 <version> (e.g., 0.1.0)"
    exit 1
fi

echo "Releasing BenchMind v${VERSION}"

# Ensure clean working tree.
if [ -n "$(git status --porcelain)" ]; then
    echo "Error: working tree is not clean."
    exit 1
fi

# Run checks.
make check

# Update version markers.
sed -i.bak "s/^version = .*/version = \"${VERSION}\"/" pyproject.toml
rm pyproject.toml.bak

# Build and publish to PyPI (requires credentials).
python -m build
twine check dist/*
twine upload dist/*

# Build and publish Docker image.
docker build -t "benchmind:${VERSION}" -t benchmind:latest .
docker push "benchmind:${VERSION}"
docker push benchmind:latest

# Create git tag.
git add pyproject.toml CHANGELOG.md
git commit -m "Release v${VERSION}"
git tag -a "v${VERSION}" -m "Release v${VERSION}"
git push origin main "v${VERSION}"

echo "Released v${VERSION}"
