"""An import in one line for the user's eyes."""

from intarsia.infill.imports.binding import DEFAULT, ImportBinding


def shown(binding: ImportBinding, language_id: str) -> str:
    """Return the import as a statement of its language, without the punctuation of its file."""
    module, name, local = binding.module, binding.name, binding.local
    if language_id == "python":
        renamed = f"{name or module} as {local}" if local != (name or module) else name or module
        return f"from {module} import {renamed}" if name else f"import {renamed}"
    if language_id == "go":
        return f'import "{module}"'
    if language_id == "java":
        return f"import {'static ' if binding.form == 'static' else ''}{module}.{name}"
    if language_id == "rust":
        return f"use {module}::{name}" + (f" as {local}" if local != name else "")
    if name == DEFAULT or not name:
        return f'import {local} from "{module}"'
    return f'import {{ {name} }} from "{module}"'
