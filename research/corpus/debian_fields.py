"""Parse paragraphs of Debian's control format."""


def read_fields(paragraph: str) -> dict[str, str]:
    """Return a paragraph's fields by lower-case name; continuation lines keep their newlines."""
    fields: dict[str, str] = {}
    name = ""
    for line in paragraph.splitlines():
        if line[:1] in (" ", "\t"):
            fields[name] = f"{fields.get(name, '')}\n{line.strip()}"
        elif ":" in line and not line.startswith("#"):
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
    return fields
