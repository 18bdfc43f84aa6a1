"""Tables: from files and data frames with named columns to models, and back to predictions.

May import everything up to `estimators`; export, plots, report, dask, paper and cli build on it.
"""
