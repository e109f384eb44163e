"""The server's connection to the engine process, and what users are told about it."""
