"""Run the command line as `python -m greedynet`."""

from greedynet.cli import main

if __name__ == "__main__":
    main()
