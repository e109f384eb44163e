"""The engine: one process per user that loads a model and answers fills over a socket.

Clients import ``engine.ipc`` only.
"""
