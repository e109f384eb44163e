"""A small HTTP server that speaks as llama.cpp's does, to be run as a program.

The model's name says what it does: "good" fills, "slow" loads for two questions, "broken" ends with
a word, "picky" refuses every hole, "babbling" answers what is no answer, "mortal" ends when asked.
"""

import json
import os
import shlex
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


def write_program(folder: Path) -> Path:
    """Write a program that runs this file, and return its path."""
    program = folder / "llama-server"
    program.write_text(f'#!/bin/sh\nexec {shlex.join((sys.executable, __file__))} "$@"\n')
    program.chmod(0o755)
    return program


class _Handler(BaseHTTPRequestHandler):
    behaviour = "good"
    num_health = 0

    def do_GET(self) -> None:
        _Handler.num_health += 1
        is_loading = self.behaviour == "slow" and _Handler.num_health < 3
        if self.path == "/props":
            self._send(200, {"build_info": "b1-stand-in", "more": 1})
        else:
            self._send(503 if is_loading else 200, {"status": "ok"})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.behaviour == "mortal":
            sys.stderr.write("Segmentation fault\n")
            os._exit(9)
        if self.behaviour == "picky":
            self._send(400, {"error": {"message": "no holes today"}})
        elif self.behaviour == "babbling":
            self._send(200, {"content": 7}, is_event=asked.get("stream", False))
        elif asked.get("stream"):
            self._stream(asked)
        else:
            timings = {"prompt_n": 30, "prompt_ms": 2.0, "predicted_ms": 3.0}
            answer = {"tokens_predicted": 5, "tokens_evaluated": 40, "stop_type": "word"}
            # What it was asked comes back, so that a test can see it.
            content = json.dumps({**asked, "path": self.path})
            self._send(200, {**answer, "content": content, "timings": timings})

    def log_message(self, *args: object) -> None:
        pass

    def _stream(self, asked: dict[str, str]) -> None:
        """Send back what was asked, a piece for each part and for what stands between them."""
        parts = (asked["input_prefix"], "|", asked["prompt"], "|", asked["input_suffix"])
        events = [{"content": part, "stop": False} for part in parts]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in (*events, {"content": "", "stop": True}):
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
            self.wfile.flush()

    def _send(self, status: int, value: object, *, is_event: bool = False) -> None:
        body = json.dumps(value).encode()
        if is_event:
            body = b"data: " + body + b"\n\n"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    words = sys.argv[1:]
    options = {word: words[i + 1] for i, word in enumerate(words[:-1]) if word.startswith("--")}
    _Handler.behaviour = Path(options["--model"]).stem
    if _Handler.behaviour == "broken":
        sys.exit("error: the model has no head")
    HTTPServer((options["--host"], int(options["--port"])), _Handler).serve_forever()


if __name__ == "__main__":
    main()
