"""Joint correction of all neurons: variable projection, descent on the log-loss, all rows.

May import everything up to `search`. It corrects given neurons, and does not grow any.
"""
