"""The engine process: a socket for clients, a scheduler, and the one thread that runs the model.

Its public interface is ``arguments.parse_arguments`` and ``process.run_engine``.
"""
