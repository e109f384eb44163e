"""VS Code away from the files: a remote extension host, and folders of a virtual file system.

The window is a browser's page. It reaches the folder through the remote authority, as a window does
over SSH; extensions run in the remote extension host.
"""

import json

from extension_log import ExtensionLog
from playwright.sync_api import expect
from small_extension import write_extension
from sources import SUM
from test_vscode_context import EVERYTHING, LEDGER, OTHERS, USE
from windows import own_windows

from conftest import PATIENT

# An extension with a virtual file system: files that are in memory, and on no disk.
SCHEME = "memfs"
PROGRAM = """
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
FILES = {"/project/sum.py": SUM.replace("║", ""), "/project/.env.sh": "KEY=\n"}


def test_extension_server_engine_and_index_run_on_the_side_of_the_files(
    windows, real_engine_runtime
):
    window = windows.open(USE, others=OTHERS, settings=EVERYTHING)
    shown = window.page.locator(f'.monaco-editor[data-uri$="/{window.file.name}"]').first
    expect(shown).to_have_attribute("data-uri", f"{windows.server.remote}{window.file}")
    window.type(".")
    assert window.ghost_text()
    seen = window.expect_the_model_sees("def charge_category(self, category: str, cents: int)")
    assert "ledger.py" in seen
    host = windows.server.extension_host(using=real_engine_runtime.directory)
    running = [" ".join(child.cmdline()) for child in host.children(recursive=True)]
    assert any("intarsia" in command and "serve" in command for command in running)
    assert any("intarsia.workspace" in command for command in running)


def test_a_virtual_folder_gets_suggestions_from_the_document_alone(
    browser, real_engine_runtime, tmp_path
):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "ledger.py").write_text(LEDGER)  # of the same name, and not opened
    workspace = tmp_path / "virtual.code-workspace"
    workspace.write_text(json.dumps({"folders": [{"uri": f"{SCHEME}:/project"}]}))
    program = PROGRAM.replace("FILES", json.dumps(FILES), 1).replace("SCHEME", SCHEME)
    more = {"activationEvents": [f"onFileSystem:{SCHEME}", "*"]}
    files = [write_extension(tmp_path, "memory-files", program, more)]
    with own_windows(
        real_engine_runtime, browser, tmp_path, settings=PATIENT, extensions=files
    ) as windows:
        log = ExtensionLog(server=windows.server)
        window = windows.open_virtual(workspace, f"{SCHEME}:/project/sum.py")
        window.press("Control+Home", "ArrowDown", "ArrowDown", "End")
        window.type(" ")
        window.expect_ghost_text("left + right")
        seen = window.expect_the_model_sees("Other files are not read here")
        assert "def add(left, right)" in seen
        window.page.get_by_role("tab", name="What the Model Sees").click(button="middle")
        secret = windows.open_virtual(workspace, f"{SCHEME}:/project/.env.sh")
        secret.press("End")
        secret.type("1")
        secret.expect_status_tells("is excluded by the pattern")
        host = windows.server.extension_host(using=real_engine_runtime.directory)
        running = [" ".join(child.cmdline()) for child in host.children(recursive=True)]
        assert any("intarsia" in command and "serve" in command for command in running)
        assert not any("intarsia.workspace" in command for command in running)  # no index
        assert log.problems() == []
