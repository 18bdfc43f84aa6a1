"""Whatever any Python library needs: checks, errors, files, threads, journals, the fit's context.

May import nothing of the library. Nothing here knows of networks.
"""
