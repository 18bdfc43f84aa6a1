"""The commands of the command line, a module each: its options, and its work.

`greedynet --help` imports them all: nothing heavy is imported but inside their functions.
"""
