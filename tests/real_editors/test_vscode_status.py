"""VS Code's status item and menu."""

import re
from dataclasses import replace

from engine_watch import num_fills
from playwright.sync_api import expect
from sources import SUM
from windows import Windows


def test_the_status_item_tells_the_model_and_what_the_last_answer_cost(windows: Windows) -> None:
    window = windows.open(SUM)
    expect(window.status).to_contain_text("Intarsia")
    window.type(" ")
    window.expect_ghost_text("left + right")
    window.expect_status_tells("Ready: qwen2.5-coder-0.5b")
    window.expect_status_tells("a suggestion was shown")
    window.expect_status_tells(" tokens read")
    window.expect_saved(SUM.replace("║", " "))


def test_a_pause_asks_nothing_until_it_is_ended(windows, real_engine_runtime):
    window = windows.open(SUM)
    fills = num_fills(real_engine_runtime)
    window.command("Intarsia: Snooze…")
    window.choose("For 15 minutes")
    window.expect_status_tells("Paused for 15 more min")
    window.type(" ")
    window.expect_saved(SUM.replace("║", " "))
    window.command("Intarsia: Resume")
    expect(window.status.locator(".codicon-check")).to_be_visible()
    window.press("Backspace")
    window.type(" ")
    window.expect_ghost_text("left + right")
    assert num_fills(real_engine_runtime) == fills + 1


def test_it_is_turned_off_and_on_and_to_answers_on_request_only(windows: Windows) -> None:
    window = windows.open(SUM)
    window.command("Intarsia: Toggle Suggestions")
    window.expect_status_tells("Turned off in the settings")
    window.command("Intarsia: Toggle Suggestions")
    window.expect_ready()
    window.command("Intarsia: Toggle Automatic Suggestions")
    expect(window.page.get_by_text("Intarsia suggests only when asked")).to_be_visible()
    window.press("Control+1")
    window.type(" ")
    window.expect_status_tells("on request only")
    window.press("Alt+\\")
    window.expect_ghost_text("left + right")
    window.press("Alt+End")  # accepts the line
    window.expect_saved(SUM.replace("║", " left + right"))
    window.command("Intarsia: Toggle Automatic Suggestions")
    expect(window.page.get_by_text("Intarsia suggests by itself again")).to_be_visible()


def test_the_menu_turns_it_off_for_a_language_and_on_again(windows: Windows) -> None:
    window = windows.open(SUM)
    window.status.click()
    window.choose("Turn off for python")
    expect(window.page.get_by_text("Intarsia is off for python")).to_be_visible()
    window.press("Control+1")
    window.type(" ")
    window.expect_status_tells("python is in disabledLanguages")
    window.status.click()
    window.choose("Turn on for python")
    expect(window.page.get_by_text("Intarsia is on for python")).to_be_visible()
    window.press("Control+1", "Backspace")
    window.type(" ")
    window.expect_ghost_text("left + right")
    window.expect_saved(SUM.replace("║", " "))


def test_it_speaks_the_language_of_vscode(windows: Windows) -> None:
    """The extension's own words, and the server's, which sends them in English."""
    window = replace(windows, locale="de").open(SUM)
    window.type(" ")
    window.expect_ghost_text("left + right")
    window.expect_status_tells("Bereit: qwen2.5-coder-0.5b")
    window.expect_status_tells("Zuletzt: ein Vorschlag wurde angezeigt")
    window.expect_status_tells("gelesene Token: ")
    label = re.compile("^Intarsia, Bereit: .*Zuletzt: ein Vorschlag")
    expect(window.status.locator("[aria-label]").first).to_have_attribute("aria-label", label)
    window.command("Intarsia: Vorschläge ein-/ausschalten")
    window.expect_status_tells("In den Einstellungen ausgeschaltet")
    window.command("Intarsia: Vorschläge ein-/ausschalten")
    window.expect_ready()
