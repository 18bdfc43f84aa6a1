"""The algorithm: `construct.py` describes every fit on one page, and calls the modules beside it.

May import everything up to `correction`. It is called by the estimators and knows nothing of them.
"""
