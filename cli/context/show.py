"""Print what the model sees for people: each part under a heading that says where it is from."""

from rich.console import Console
from rich.text import Text

from intarsia.cli.context.seen import SeenContext
from intarsia.cli.terminal import displayable

_HEADING = "bold"
_REASON = "dim"


def show_context(console: Console, seen: SeenContext, *, has_project: bool) -> None:
    """Print the parts in the order of reading: other files, suffix, prefix, given text."""
    for chunk in seen.chunks:
        label = f"{chunk.kind.replace('_', ' ')}, about {chunk.tokens} tokens"
        _part(console, f"{chunk.path} ({label})", chunk.text, chunk.reason)
    if has_project and not seen.chunks:
        console.print(Text("no code of other files: none was found that helps here", style=_REASON))
    _part(console, f"{seen.path}: after the hole", seen.suffix)
    _part(console, f"{seen.path}: before the hole", seen.prefix)
    if seen.given:
        _part(console, "already there, the fill continues it", seen.given)
    for line in _costs(seen, has_project=has_project):
        console.print(Text(line, style=_REASON), soft_wrap=True)


def _part(console: Console, heading: str, text: str, reason: str = "") -> None:
    title = Text(f"── {displayable(heading)}", style=_HEADING)
    if reason:
        title.append(f" · {displayable(reason)}", style=_REASON)
    console.print(title, soft_wrap=True)
    console.print(Text(displayable(text)), soft_wrap=True)


def _costs(seen: SeenContext, *, has_project: bool) -> list[str]:
    source = "measured" if seen.is_speed_measured else "estimated: no engine has measured it yet"
    parts = f"{seen.window_tokens} of this file"
    if has_project:
        parts = f"{seen.project_tokens} of other files in {seen.repository}, {parts}"
    lines = [
        f"about {seen.project_tokens + seen.window_tokens} tokens: {parts}",
        f"{seen.seconds:.1f} s to read all of it once, at {seen.tokens_per_s:.0f} tokens a second "
        f"({source})",
    ]
    if has_project:
        lines.append(
            f"{seen.num_indexed} files indexed; {seen.index_ms:.0f} ms to bring the index up to "
            f"date, {seen.choose_ms:.0f} ms to choose"
        )
    return lines
