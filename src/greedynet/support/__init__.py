"""General utilities: checks, errors, files, threads, checkpoints and the context of a fit.

May import nothing from the rest of the library; knows nothing of networks.
"""
