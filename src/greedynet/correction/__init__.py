"""All neurons corrected together: variable projection, descent on the log-loss, all rows at last.

May import everything up to `search`. It takes neurons as they are, and does not grow any.
"""
