"""Programs that models wrote: when they are run, and what isolation holds off."""

import ctypes
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from judged_rows import failure, row
from sample_cases import case

from intarsia_research.commands.eval.choose import choose_sandbox
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.run_tests import run_tests
from intarsia_research.sandbox import execute, isolation
from intarsia_research.sandbox.execute import Sandbox, find_sandbox
from intarsia_research.sandbox.isolation import isolations

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no limits on processes")

WAYS = {way.name: way for way in isolations()} if sys.platform != "win32" else {}


def open_sandbox() -> Sandbox:
    """One that shuts nothing off."""
    return Sandbox(isolation=WAYS["none"])


@pytest.fixture(scope="module", params=["bubblewrap", "namespaces"])
def closed(request: pytest.FixtureRequest) -> Sandbox:
    """One that shuts programs off, each way that works on this machine."""
    way = WAYS.get(request.param)
    if way is None:
        pytest.skip("not on this machine: on Debian, apt-get install bubblewrap util-linux")
    sandbox = Sandbox(isolation=way)
    if not sandbox.passes("pass"):
        pytest.skip(f"{request.param}: this machine does not let us make namespaces")
    return sandbox


@pytest.fixture
def secret() -> Iterator[Path]:
    """A file that anybody on this machine may read, in a folder that anybody may write to."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        path = folder / "secret"
        path.write_text("1")
        path.chmod(0o666)
        yield path


@pytest.mark.parametrize(
    ("program", "passes"),
    [
        ("assert 1 + 1 == 2", True),
        ("assert 1 + 1 == 3", False),
        ("x = (", False),
        ("raise SystemExit(0)", False),
        ("import os; os._exit(0)", False),
        ("import os; os._exit(87)", False),
        ("raise SystemExit(87)", False),
        (
            "import os\nfor end in range(3, 64):\n    try: os.write(end, bytes(32))\n"
            "    except OSError: pass\nos._exit(0)",
            False,
        ),
        (
            "assert set(globals()) <= {'__builtins__', '__name__', '__doc__', '__package__', "
            "'__loader__', '__spec__', '__annotations__'}",
            True,
        ),
        ("import sys; assert sys.argv == ['-c']", True),
        ('"""never closed', False),
        ("if True:\n    pass", True),
        ("assert __name__ == '__main__'", True),
        ("sys.exit", False),  # nothing is imported for it
        ("print('\ud800')", True),
        ("x = '\0'", False),
        ("import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: 'int'", True),
    ],
)
def test_a_program_passes_when_it_runs_to_its_end(program: str, passes: bool):
    assert open_sandbox().passes(program) is passes


def test_a_right_program_passes_in_every_way(closed: Sandbox):
    assert closed.passes("import math, json, re, typing\nassert math.gcd(4, 6) == 2")
    assert not closed.passes("assert False")


def test_a_program_that_does_not_end_is_ended(closed: Sandbox):
    impatient = replace(closed, time_limit_s=0.5)
    assert not impatient.passes("import time; time.sleep(3600)")
    assert not impatient.passes("while True: pass")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
def test_memory_is_limited(closed: Sandbox):
    assert not closed.passes("x = bytearray(4 * 1024**3)")
    assert closed.passes("x = bytearray(64 * 1024**2)")


def test_files_are_limited_in_size_and_all_together(closed: Sandbox):
    assert closed.passes("open('x', 'wb').write(bytes(2**20))")
    assert not closed.passes("open('x', 'wb').write(bytes(32 * 2**20))")
    many = "for i in range(8):\n    open(str(i), 'wb').write(bytes(12 * 2**20))"
    assert not closed.passes(many)


def test_it_reads_nothing_of_the_user(closed: Sandbox, secret: Path):
    assert open_sandbox().passes(f"open({str(secret)!r})")  # the program itself is right
    assert not closed.passes(f"open({str(secret)!r})")
    prefix = Path(sys.base_prefix).resolve()  # Python itself may lie in the user's home
    own = [str(path) for path in Path.home().iterdir() if not prefix.is_relative_to(path)]
    assert not closed.passes(f"import os; assert any(map(os.path.lexists, {own!r}))")
    assert not closed.passes(f"open({__file__!r})")


def test_it_writes_nowhere_but_in_its_scratch_folder(closed: Sandbox, secret: Path):
    beside = secret.with_name("written")
    for path in (secret, beside, Path("/usr/written"), Path("/dev/written"), Path("/written")):
        assert not closed.passes(f"open({str(path)!r}, 'w')"), path
        assert path == secret or not path.exists()
    assert secret.read_text() == "1"
    assert closed.passes("open('written', 'w')")
    assert closed.passes("import os; assert os.listdir() == []")


def test_it_has_no_network(closed: Sandbox):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        assert open_sandbox().passes(program)  # the program itself is right
        assert not closed.passes(program)


def test_it_starts_no_process(closed: Sandbox):
    assert not closed.passes("import os; os.fork()")
    assert not closed.passes("import subprocess; subprocess.run(['true'], check=True)")


def test_it_ends_no_process(closed: Sandbox):
    assert not closed.passes(f"import os; os.kill({os.getpid()}, 9)")
    # To end its own parent ends nothing but itself.
    assert closed.passes("pass")
    closed.passes("import os; os.kill(os.getppid(), 9)")
    closed.passes("import os; os.kill(-1, 9)")
    assert psutil.Process().is_running()


def test_it_has_no_rights_to_get_out_by(closed: Sandbox):
    mount = "import ctypes; assert ctypes.CDLL(None).mount(b'x', b'/tmp', b'tmpfs', 0, None) == 0"
    assert not closed.passes(mount)
    root = "import ctypes; assert ctypes.CDLL(None).chroot(b'/tmp') == 0"
    assert not closed.passes(root)


@pytest.fixture
def key() -> Iterator[str]:
    """The name of a key in the user's session keyring."""
    name = f"intarsia-test-{os.getpid()}"
    add, keyctl, session, unlink = 248, 250, -3, 9
    libc = ctypes.CDLL(None, use_errno=True)
    if os.uname().machine != "x86_64":
        pytest.skip("system calls have other numbers here")
    number = libc.syscall(add, b"user", name.encode(), b"TOPSECRET", 9, session)
    if number < 0:
        pytest.skip(f"no keyring: {os.strerror(ctypes.get_errno())}")
    yield name
    libc.syscall(keyctl, unlink, number, session)


def test_it_reads_no_key_of_the_user(closed: Sandbox, key: str):
    """keyctl(2): 10 searches a keyring, 11 reads a key."""
    program = f"""
import ctypes
call, text = ctypes.CDLL(None).syscall, ctypes.create_string_buffer(16)
number = call(250, 10, -3, b"user", {key.encode()!r}, 0)
assert number > 0 and call(250, 11, number, text, 16) == 9 and text.value == b"TOPSECRET"
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    if done.returncode != 0:
        pytest.skip("keys are not inherited here")
    assert not closed.passes(program)
    assert not closed.passes("import ctypes; assert ctypes.CDLL(None).syscall(250, 0, -3, 0) > 0")


@pytest.mark.parametrize("call", ["unshare(0x10000000)", "syscall(56, 0x10000011, 0, 0, 0, 0)"])
def test_it_makes_no_user_namespace(closed: Sandbox, call: str):
    """Inside of one it would have the rights of root."""
    assert closed.passes(f"import ctypes; assert ctypes.CDLL(None).{call} == -1")


def test_it_sees_nothing_of_the_user_s_environment(closed: Sandbox, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "1")
    program = "import os; assert 'SECRET_TOKEN' not in os.environ"
    assert closed.passes(program)
    assert open_sandbox().passes(program)


def test_the_strictest_way_that_works_is_taken(closed: Sandbox):
    assert find_sandbox().is_isolated
    assert find_sandbox().warning is None


def test_without_any_way_programs_run_with_a_warning(monkeypatch):
    monkeypatch.setattr(isolation.shutil, "which", lambda name: None)
    sandbox = find_sandbox()
    assert not sandbox.is_isolated
    assert sandbox.warning is not None
    assert "WITH your rights, files and network" in sandbox.warning
    assert "bubblewrap" in sandbox.warning
    assert sandbox.passes("assert True")
    assert not sandbox.passes("assert False")


def test_a_way_that_only_looks_as_if_it_worked_is_not_taken(monkeypatch, tmp_path: Path):
    """A ``bwrap`` that runs its command as it is."""
    wrapper = tmp_path / "bwrap"
    wrapper.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setattr(
        isolation.shutil, "which", lambda name: str(wrapper) if name == "bwrap" else None
    )
    assert [way.name for way in isolations()] == ["bubblewrap", "none"]
    assert not find_sandbox().is_isolated


def test_where_nothing_can_be_run_it_is_said_before_anything_counts_as_wrong(monkeypatch):
    monkeypatch.setattr(execute.sys, "_base_executable", "/bin/false")
    with pytest.raises(EvaluationFault, match="no program can be run here"):
        find_sandbox()


def test_what_it_started_is_gone_when_it_is():
    sign = "intarsia-orphan-of-a-test"
    program = (
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time  # {sign}\\ntime.sleep(60)'])"
    )
    open_sandbox().passes(program)
    orphans = [
        process
        for process in psutil.process_iter(["cmdline"])
        if sign in " ".join(process.info["cmdline"] or [])
    ]
    # A process that was sent SIGKILL is seen for a moment still; nobody here may reap it, so that
    # a zombie counts as gone. Left alone it would sleep for 60 s.
    deadline = time.monotonic() + 20
    while any(map(_runs, orphans)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(_runs, orphans))


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def case_with_test(name: str, test: str | None = "assert x == 1") -> Case:
    return replace(case("x = ", "1", name=name), test=test)


class Passing(Sandbox):
    """Says of a program whether it holds ``x = 1``, and keeps what was asked."""

    def passes(self, program: str) -> bool:
        ASKED.append(program)
        return "x = 1\n" in program


ASKED: list[str] = []
OPEN = Sandbox(isolation=isolations()[-1])


@pytest.fixture
def passing() -> Sandbox:
    ASKED.clear()
    return Passing(isolation=isolations()[-1])


def test_judgements_come_to_their_rows_and_equal_programs_run_once(passing: Sandbox):
    cases = [case_with_test("1"), case_with_test("2"), case_with_test("none", test=None)]
    rows = [
        row("1", "a", set="sample", text="1"),
        row("1", "b", set="sample", text="1"),
        row("2", "a", set="sample", text="2"),
        row("none", "a", set="sample", text="1"),
        failure("2", "b", set="sample"),
        row("1", "a", set="another", text="1"),
    ]
    done = run_tests(rows, cases, passing, lambda words, share: None)
    assert [one.judgement.passed for one in done] == [True, True, False, None, False, None]
    assert sorted(ASKED) == ["x = 1\n\nassert x == 1", "x = 2\n\nassert x == 1"]
    assert done[0].judgement.similarity == rows[0].judgement.similarity


def test_a_fault_of_a_program_s_run_ends_the_others(monkeypatch: pytest.MonkeyPatch):
    def passes(self: Sandbox, program: str) -> bool:
        raise OSError("no more processes")

    monkeypatch.setattr(Sandbox, "passes", passes)
    rows = [row(str(number), set="sample", text=str(number)) for number in range(50)]
    with pytest.raises(OSError, match="no more processes"):
        run_tests(
            rows, [case_with_test(str(n)) for n in range(50)], OPEN, lambda words, share: None
        )


def test_without_a_sandbox_nothing_is_run_unless_that_is_asked_for(monkeypatch, capsys):
    monkeypatch.setattr("intarsia_research.commands.eval.choose.find_sandbox", lambda: OPEN)
    assert choose_sandbox([case_with_test("1")], is_executed=None) is None
    assert "the tests are not run" in capsys.readouterr().err
    assert choose_sandbox([case_with_test("1")], is_executed=True) is OPEN
    assert "WITH your rights" in capsys.readouterr().err
    assert choose_sandbox([case_with_test("1")], is_executed=False) is None
    assert choose_sandbox([case_with_test("1", test=None)], is_executed=True) is None
    assert capsys.readouterr().err == ""


def test_where_nothing_can_be_run_only_who_asked_for_it_is_stopped(monkeypatch, capsys):
    def find() -> Sandbox:
        raise EvaluationFault("programs are run elsewhere only: leave it out")

    monkeypatch.setattr("intarsia_research.commands.eval.choose.find_sandbox", find)
    assert choose_sandbox([case_with_test("1")], is_executed=None) is None
    assert "the tests are not run: programs are run elsewhere" in capsys.readouterr().err
    with pytest.raises(EvaluationFault):
        choose_sandbox([case_with_test("1")], is_executed=True)
