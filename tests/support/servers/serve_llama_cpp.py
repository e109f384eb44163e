"""Serve a GGUF file by llama.cpp's own server on loopback, until standard input ends.

Run by the Python that has xllamacpp, not by ours: serve_llama_cpp.py FILE PORT [CONTEXT_TOKENS].
"""

import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.port = int(sys.argv[2])
parameters.hostnames = ["127.0.0.1"]
parameters.n_ctx = int(sys.argv[3]) if len(sys.argv) > 3 else 4096
parameters.n_parallel = 2
# Two threads would wait for each other on a busy machine of two cores: one is the quicker there.
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1
parameters.endpoint_metrics = True
parameters.endpoint_slots = True
server = xllamacpp.Server(parameters)
sys.stdout.write("ready\n")
sys.stdout.flush()
sys.stdin.read()
