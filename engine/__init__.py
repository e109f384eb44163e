"""The resident engine: tokens and tensors, behind a socket. Only ``engine.ipc`` may be imported by clients."""
