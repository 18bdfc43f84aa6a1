"""Entry point of the command line: the program `greedynet`, and `python -m greedynet`."""

import os
import sys


def run() -> None:
    """Run the command line; Ctrl-C is handled even during its import."""
    _replace_closed_streams()
    try:
        from greedynet.cli import main

        main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def _replace_closed_streams() -> None:
    """Open the null device where a standard stream is closed, as after `2>&-`.

    The next file to be opened would get its number, and what is meant for the stream be written to
    it. `sys.stdin` and `sys.stdout` stay None: who needs them says so.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the smallest number that is free
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)


if __name__ == "__main__":
    run()
