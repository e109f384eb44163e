"""Folders that hold nothing a person wrote for this project: tools, caches, builds, packages."""

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", "cvs"})
"""Never read, whatever an ignore file says."""

_PACKAGES = frozenset(
    {
        *("node_modules", "bower_components", "jspm_packages", "site-packages", "dist-packages"),
        *(
            "venv",
            ".venv",
            "virtualenv",
            "__pypackages__",
            ".eggs",
            "pods",
            "carthage",
            "elm-stuff",
        ),
        *(".yarn", ".pnpm-store", ".pub-cache", ".bundle", ".cargo", ".m2", ".dart_tool"),
        *("elm-stuff",),
    }
)
_BUILDS = frozenset(
    {
        *("build", "dist", "target", "out", "_build", "cmake-build-debug", "cmake-build-release"),
        *("zig-out", ".zig-cache", "zig-cache", "deriveddata", ".build", ".output", ".next"),
        *(
            ".nuxt",
            ".svelte-kit",
            ".angular",
            ".parcel-cache",
            ".turbo",
            "bazel-out",
            ".stack-work",
        ),
        *("dist-newstyle", ".docusaurus", "storybook-static", "htmlcov", "obj"),
        *(".stack-work",),
    }
)
_TOOLS = frozenset(
    {
        *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".tox"),
        *(".nox", ".ipynb_checkpoints", ".cache", ".gradle", ".idea", ".vs", ".vscode-test"),
        *(".terraform", ".serverless", ".metals", ".bloop", ".bsp", ".elixir_ls", ".sass-cache"),
        *(".nyc_output", ".history", ".trash", "$recycle.bin", "lost+found", "tmp", ".tmp"),
    }
)
_SKIPPED = VERSION_CONTROL | _PACKAGES | _BUILDS | _TOOLS

MARKERS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""Files that mark the folder around them as a cache or a virtual environment."""


def is_skipped_folder(name: str) -> bool:
    """Tell whether a folder of this name is left out unless an ignore file asks for it."""
    return name.casefold() in _SKIPPED


def is_version_control(name: str) -> bool:
    """Tell whether a folder of this name holds the data of a version control system."""
    return name.casefold() in VERSION_CONTROL
