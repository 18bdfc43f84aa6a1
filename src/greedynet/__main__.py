"""Entry point of the command line: the program `greedynet`, and `python -m greedynet`."""

import sys


def run() -> None:
    """Run the command line; Ctrl-C is handled even during its import."""
    try:
        from greedynet.cli import main

        main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    run()
