"""Linear algebra: a growing orthonormal factor, triangular solves, Cholesky factors, elimination.

May import `support`. Plain arrays in, plain arrays out; it knows nothing of neurons or rows.
"""
