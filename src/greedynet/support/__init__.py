"""General utilities: checks, errors, files, threads, journals and the context of a fit.

May import nothing from the rest of the library; knows nothing of networks.
"""
