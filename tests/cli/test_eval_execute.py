"""Programs that models wrote: what passes, and what the limits hold off."""

import socket
import sys

import psutil
import pytest

from intarsia.cli.eval_execute import Runner, make_runner

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no limits on processes")


@pytest.fixture(scope="module")
def runner() -> Runner:
    return make_runner()


@pytest.mark.parametrize(
    ("program", "passes"),
    [
        ("assert 1 + 1 == 2", True),
        ("assert 1 + 1 == 3", False),
        ("x = (", False),
        ("raise SystemExit(0)", False),
        ("import os; os._exit(0)", False),
        ('"""never closed', False),
        ("if True:\n    pass", True),
    ],
)
def test_a_program_passes_when_it_runs_to_its_end(runner: Runner, program: str, passes: bool):
    assert runner.passes(program) is passes


def test_it_runs_without_a_namespace_too():
    assert Runner(wrapper=()).passes("assert True")
    assert not Runner(wrapper=()).passes("assert False")


def test_a_program_that_does_not_end_is_ended(runner: Runner):
    impatient = Runner(wrapper=runner.wrapper, time_limit_s=1)
    assert not impatient.passes("while True: pass")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
def test_memory_is_limited(runner: Runner):
    assert not runner.passes("x = bytearray(2 * 1024**3)")


def test_what_it_started_is_gone_when_it_is():
    sign = "intarsia-orphan-of-a-test"
    start = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {sign!r} * 1 + '''\n"
    program = start.replace(f"{sign!r} * 1 + ", "") + f"import time  # {sign}\ntime.sleep(60)'''])"
    Runner(wrapper=()).passes(program)
    alive = [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if sign in " ".join(process.info["cmdline"] or [])
        and process.info["status"] != psutil.STATUS_ZOMBIE
    ]
    assert alive == []


def test_it_has_no_network_where_that_can_be_taken_away(runner: Runner):
    if not runner.wrapper:
        assert "WITH network" in runner.warning
        pytest.skip("unshare cannot be used here")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        assert not runner.passes(program)
        assert Runner(wrapper=()).passes(program)  # the program itself is right


def test_it_sees_nothing_of_the_user_s_environment(runner: Runner, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "1")
    assert runner.passes("import os; assert 'SECRET_TOKEN' not in os.environ")


def test_it_stands_in_an_empty_folder_of_its_own(runner: Runner):
    assert runner.passes("import os; assert os.listdir() == ['program.py']")
