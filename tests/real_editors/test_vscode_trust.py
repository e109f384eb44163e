"""An untrusted workspace in VS Code: its settings name no programs and no models."""

from sources import SUM
from windows import own_windows

from conftest import PATIENT

# It trusts no workspace, and does not ask.
SILENT = {"startupPrompt": "never", "banner": "never", "untrustedFiles": "open"}
CAREFUL = {f"security.workspace.trust.{name}": value for name, value in SILENT.items()}


def test_programs_and_models_of_an_untrusted_workspace_are_not_followed(
    real_engine_runtime, browser, tmp_path
):
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    settings: dict[str, object] = {
        "intarsia.serverCommand": [str(program)],
        "intarsia.model": str(tmp_path / "no-model.gguf"),
    }
    with own_windows(
        real_engine_runtime,
        browser,
        tmp_path,
        settings={**PATIENT, **CAREFUL},
        trusts_workspaces=False,
    ) as windows:
        window = windows.open(SUM, settings=settings)
        window.type(" ")
        window.expect_ghost_text("left + right")
        window.expect_status_tells("Ready: qwen2.5-coder-0.5b")
        window.press("Tab")
        window.expect_cursor(3, 24)
        window.expect_saved(SUM.replace("║", " left + right"))
        assert not ran.exists()
