"""Start-up: importing the library, the command line, and the first fit of a process.

    python benchmarks/startup.py [--repeats 7]

Every line is the median over `--repeats` fresh processes, in turn: processor time from the start of
the process to its end, and its ratio to that of `import numpy` and of `import sklearn.base`, which
every estimator needs. The last lines are about a fit in a fresh process, with compiled code in the
cache: how much longer the first fit takes than the second, and the first large table than the
second.

The bytecode of all modules is written first, as after an installation.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import sklearn.base": ["-c", "import sklearn.base"],
    "import sklearn.base, numba": ["-c", "import sklearn.base, numba"],
    "import greedynet": ["-c", "import greedynet"],
    "greedynet --help": ["-m", "greedynet", "--help"],
    "greedynet fit --help": ["-m", "greedynet", "fit", "--help"],
    "GreedyNetRegressor": ["-c", "from greedynet import GreedyNetRegressor"],
    "fit_table": ["-c", "from greedynet import fit_table"],
}

TWICE = """
import time
{setup}
seconds = []
for _ in range(2):
    start = time.process_time()
    {statement}
    seconds.append(time.process_time() - start)
print(seconds[0] - seconds[1], seconds[1])
"""

FIT = TWICE.format(
    setup="""
import numpy as np
from greedynet import GreedyNetRegressor
X = np.random.default_rng(0).normal(size=(300, 3))
y = np.abs(X[:, 0]) + X[:, 1]
""",
    statement="GreedyNetRegressor(n_jobs=1).fit(X, y)",
)

TABLE = TWICE.format(
    setup="""
import sys
import greedynet.tables.fit
from greedynet.tables.survey import survey
from greedynet.tables.readers import open_table
table = open_table(sys.argv[1])
""",
    statement="survey(table, table.names)",
)


def environment():
    """Bytecode is used, and one thread."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"OMP_NUM_THREADS": "1"}


def processor_time(arguments):
    """Processor time of a process, and what it prints."""
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as run:
        printed = run.stdout.read()
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise SystemExit(f"failed: {command}")
    return usage.ru_utime + usage.ru_stime, printed


def starts(repeats):
    seconds = {name: [] for name in COMMANDS}
    for repeat in range(repeats + 1):
        for name, arguments in COMMANDS.items():
            found, _ = processor_time(arguments)
            if repeat:  # the first one writes bytecode
                seconds[name].append(found)
    medians = {name: statistics.median(found) for name, found in seconds.items()}
    print("                             seconds   of numpy   of sklearn.base")
    for name, found in medians.items():
        ratios = [found / medians[other] for other in ("import numpy", "import sklearn.base")]
        print(f"{name:28} {found:7.2f} {ratios[0]:10.2f} {ratios[1]:17.2f}")


def first_and_second(what, arguments, repeats):
    found = [processor_time(arguments)[1].split() for _ in range(repeats + 1)][1:]
    longer, second = (statistics.median(map(float, times)) for times in zip(*found, strict=True))
    print(f"{what}: {longer:.2f} s longer than the second, which takes {second:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    starts(arguments.repeats)
    first_and_second("first fit", ["-c", FIT], arguments.repeats)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        row = ",".join(["0.12345678901234567"] * 9)
        path.write_text(",".join("abcdefghi") + "\n" + (row + "\n") * 50_000)
        first_and_second("first table of 9 MB", ["-c", TABLE, str(path)], arguments.repeats)


if __name__ == "__main__":
    main()
