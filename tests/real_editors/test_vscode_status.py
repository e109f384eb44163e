"""VS Code's status item and menu, and the one engine that windows share."""

import os
import signal

from engine_counts import engine_status, num_fills
from extension_log import ExtensionLog
from playwright.sync_api import expect
from sources import SUM
from windows import Windows

from intarsia.engine.ipc.address import Address


def test_the_status_item_names_the_model_and_what_the_last_answer_cost(windows: Windows) -> None:
    window = windows.open(SUM)
    expect(window.status).to_contain_text("qwen2.5-coder-0.5b")
    window.type(" ")
    window.expect_ghost_text("left + right")
    window.expect_status_tells("a suggestion was shown")
    window.expect_status_tells(" tokens read")
    window.expect_saved(SUM.replace("║", " "))


def test_a_pause_asks_nothing_until_it_is_ended(
    windows: Windows, real_engine_runtime: Address
) -> None:
    window = windows.open(SUM)
    fills = num_fills(real_engine_runtime)
    window.command("Intarsia: Pause for 10 Minutes")
    window.expect_status_tells("Paused for 10 more min")
    window.type(" ")
    window.expect_saved(SUM.replace("║", " "))
    window.command("Intarsia: Resume")
    expect(window.status.locator(".codicon-check")).to_be_visible()
    window.press("Backspace")
    window.type(" ")
    window.expect_ghost_text("left + right")
    assert num_fills(real_engine_runtime) == fills + 1


def test_the_menu_turns_it_off_for_a_language_and_on_again(windows: Windows) -> None:
    window = windows.open(SUM)
    window.status.click()
    window.choose("Turn off for python")
    expect(window.page.get_by_text("Intarsia is off for python")).to_be_visible()
    window.press("Control+1")
    window.type(" ")
    window.expect_status_tells("python is among disabledLanguages")
    window.status.click()
    window.choose("Turn on for python")
    expect(window.page.get_by_text("Intarsia is on for python")).to_be_visible()
    window.press("Control+1", "Backspace")
    window.type(" ")
    window.expect_ghost_text("left + right")
    window.expect_saved(SUM.replace("║", " "))


def test_a_file_of_secrets_is_never_read_and_the_reason_is_shown(
    windows: Windows, real_engine_runtime: Address
) -> None:
    window = windows.open("USER=me\nTOKEN=║\n", ".env")
    fills = num_fills(real_engine_runtime)
    window.type("a")
    window.expect_status_tells("nothing was shown")
    window.command("Intarsia: Show Why There Was No Suggestion")
    expect(window.message()).to_contain_text(".env is excluded by the pattern")
    assert num_fills(real_engine_runtime) == fills
    window.expect_saved("USER=me\nTOKEN=a\n")


def test_two_windows_share_one_engine_and_what_it_has_read(
    windows: Windows, real_engine_runtime: Address, log: ExtensionLog
) -> None:
    before = engine_status(real_engine_runtime)
    for source in (SUM, SUM):
        window = windows.open(source)
        window.type(" ")
        window.expect_ghost_text("left + right")
        window.expect_saved(SUM.replace("║", " "))
    after = engine_status(real_engine_runtime)
    assert after.pid == before.pid
    assert after.num_clients >= 3  # both windows and the one who asks
    filled = [line for line in log.lines() if "filled in" in line]
    assert len(filled) == 2
    assert "context tokens: 0 computed" in filled[-1]


def test_a_killed_engine_is_started_again_by_the_next_request(
    windows: Windows, real_engine_runtime: Address, log: ExtensionLog
) -> None:
    window = windows.open(SUM)
    window.type(" ")
    window.expect_ghost_text("left + right")
    killed = engine_status(real_engine_runtime).pid
    os.kill(killed, signal.SIGKILL)
    log.forgive("engine")
    window.press("Tab")
    window.expect_cursor(3, 24)
    window.press("Control+End")
    window.type("total = ")
    assert window.ghost_text()
    window.expect_saved(SUM.replace("║", " left + right") + "total = ")
    assert engine_status(real_engine_runtime).pid != killed
    window.expect_status_tells("Ready: qwen2.5-coder-0.5b")
