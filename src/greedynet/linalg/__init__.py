"""Linear algebra: a growing orthonormal factor, triangular solves, Cholesky factors.

May import `support`. Plain arrays in, plain arrays out; nothing here knows of neurons or of rows.
"""
