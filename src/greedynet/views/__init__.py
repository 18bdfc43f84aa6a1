"""Views: what charts show, as arrays and labels; `plots` and `report` draw them.

May import everything up to `exact`; nothing here draws.
"""
