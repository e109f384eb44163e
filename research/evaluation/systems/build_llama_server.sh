#!/bin/sh
# Builds llama.cpp's llama-server from the source that llama-cpp-python's release on PyPI carries.
# Needs python3, cmake and a C++ compiler; none of the release's own set-up is run.
#
#   build_llama_server.sh [FOLDER]     default: build/llama-server; the program is FOLDER/llama-server
#
# Where a package has the program (Debian: llama.cpp-tools, Homebrew: llama.cpp), take that.
set -eu

folder=${1:-build/llama-server}
url=https://files.pythonhosted.org/packages/ec/e9/e7de2b0463ea3ffbf0ede6cb21b58c1258a8f6521aae45ca773a59fe7cf3/llama_cpp_python-0.3.36.tar.gz
sha256=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e

mkdir -p "$folder"
cd "$folder"
python3 - "$url" "$sha256" <<'PYTHON'
import hashlib, pathlib, sys, tarfile, urllib.request

url, sha256 = sys.argv[1:]
archive = pathlib.Path("source.tar.gz")
if not archive.exists():
    with urllib.request.urlopen(url, timeout=60) as answer:
        archive.write_bytes(answer.read())
if hashlib.sha256(archive.read_bytes()).hexdigest() != sha256:
    archive.unlink()
    sys.exit("the source is not the one that we know: try again")
with tarfile.open(archive) as source:
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
