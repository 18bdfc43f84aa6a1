"""The commands of the command line, one module for each.

`greedynet --help` imports them all, so heavy imports are inside their functions.
"""
