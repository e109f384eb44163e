"""The engine: a process that holds the model in memory and answers fills over a socket.

It knows tokens and tensors, not LSP. Its clients import ``engine.ipc`` only.
"""
