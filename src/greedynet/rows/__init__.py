"""Rows of data: canonical order, scaling, affine term, blocks, samples, folds and held-out rows.

May import `support`, `linalg` and `losses`; knows nothing of neurons.
"""
