"""Fits of tables that do not fit into memory: their rows are read in blocks, once for every pass.

`rows` reads them, and keeps them as numbers in a temporary file; `division` sets rows aside;
`scores` measures errors; `fit` puts them together. May import the rest of `tables`, but `fit`.
"""
