"""An extension with a virtual file system: files that are in memory, and on no disk."""

import json
from collections.abc import Mapping
from pathlib import Path

from small_extension import write_extension

SCHEME = "memfs"
_PROGRAM = """
const { EventEmitter, FileSystemError, FileType, workspace } = require("vscode");
const files = new Map(Object.entries(FILES).map(([path, text]) => [path, Buffer.from(text)]));
const isFolder = (path) => [...files.keys()].some((file) => file.startsWith(`${path}/`));
const entries = (path) => new Map(
  [...files.keys()].filter((file) => file.startsWith(`${path}/`)).map((file) => {
    const [name, ...rest] = file.slice(path.length + 1).split("/");
    return [name, rest.length > 0 ? FileType.Directory : FileType.File];
  }));
const read = ({ path }) => {
  if (!files.has(path)) throw FileSystemError.FileNotFound(path);
  return files.get(path);
};
const changed = new EventEmitter();
exports.activate = () => workspace.registerFileSystemProvider("SCHEME", {
  onDidChangeFile: changed.event,
  watch: () => ({ dispose() {} }),
  stat: ({ path }) => isFolder(path)
    ? { type: FileType.Directory, ctime: 0, mtime: 0, size: 0 }
    : { type: FileType.File, ctime: 0, mtime: 0, size: read({ path }).length },
  readDirectory: ({ path }) => [...entries(path)],
  readFile: read,
  writeFile: ({ path }, content) => files.set(path, Buffer.from(content)),
  createDirectory() {}, delete() {}, rename() {},
});
"""


def write_memory_files(folder: Path, files: Mapping[str, str]) -> Path:
    """Write the extension as a .vsix; return its path. The files: texts by absolute path."""
    program = _PROGRAM.replace("FILES", json.dumps(files), 1).replace("SCHEME", SCHEME)
    return write_extension(
        folder, "memory-files", program, {"activationEvents": [f"onFileSystem:{SCHEME}", "*"]}
    )
