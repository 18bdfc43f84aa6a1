"""The algorithm: `construct.py` is one page for every fit; what it calls stands beside it.

May import everything up to `correction`. Estimators call it; it knows nothing of them.
"""
