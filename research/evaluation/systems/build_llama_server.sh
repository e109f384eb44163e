#!/bin/sh
# Builds llama.cpp's llama-server from the source that llama-cpp-python's release on PyPI carries.
# Needs cmake and a C++ compiler; none of the release's own set-up is run.
#
#   build_llama_server.sh [FOLDER]     default: build/llama-server; the program is FOLDER/llama-server
#
# Where a package has the program (Debian: llama.cpp-tools, Homebrew: llama.cpp), take that.
set -eu

folder=${1:-build/llama-server}
python=$(realpath "${PYTHON:-.venv/bin/python}")  # with the laboratory in it

mkdir -p "$folder"
cd "$folder"
"$python" - <<'PYTHON'
import tarfile
from pathlib import Path

from intarsia_research.corpus.fetch import read_page
from intarsia_research.corpus.package_list import PackageRow
from intarsia_research.corpus.read_package import fetch_pinned

row = PackageRow(
    source="sdist",
    name="llama-cpp-python",
    version="0.3.36",
    sha256="832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e",
)
with tarfile.open(fetch_pinned(row, Path("archives"), read_page)) as source:
    inside = "llama_cpp_python-0.3.36/vendor/llama.cpp/"
    source.extractall(
        "source", [it for it in source if it.name.startswith(inside)], filter="data"
    )
PYTHON

cmake -S source/*/vendor/llama.cpp -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
  -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF \
  -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF
nice cmake --build build --target llama-server --parallel
cp build/bin/llama-server llama-server
echo "built $(pwd)/llama-server"
