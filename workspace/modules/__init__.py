"""From an import in a file to the files of the workspace that it means.

Each language has its own rules; those of Rust, for example, are in ``rust.py``. They look at
names of files and at configuration such as ``tsconfig.json``, read as data. Nothing is run.
"""
