"""The resident engine: tokens and tensors, behind a socket. Clients import ``engine.ipc`` only."""
