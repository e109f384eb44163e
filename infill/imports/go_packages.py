"""The name that a Go package most likely has, told by its path."""

import re

_VERSION = re.compile(r"/v\d+$|\.v\d+$")
_LANGUAGE = re.compile(r"^go[-_.]|[-_.]go$")


def package_name(path: str) -> str:
    """Return the last part of a path, without a version or the language: ``chi``, ``hclog``.

    So for ``github.com/go-chi/chi/v5`` and ``github.com/hashicorp/go-hclog``.
    """
    last = _VERSION.sub("", path).rpartition("/")[2]
    return last if last.isidentifier() else _LANGUAGE.sub("", last)
