"""The engine: a process that holds the model and answers fills. Clients import ``ipc`` only."""
