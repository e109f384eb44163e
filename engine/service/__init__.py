"""The engine process: a socket for clients, a scheduler, and the one thread that runs the model."""
