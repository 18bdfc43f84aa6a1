"""Checkpoints: what they cost, and what a killed fit loses.

    python benchmarks/checkpoints.py [--kills 20] [--repeats 2] [--fits averaged,classes]

For some fits on one thread prints

- the seconds of the fit, its processor time with a checkpoint over that without (the best of
  `--repeats` each, in turn), and the share of the time that went into writing the file;
- how often the file was written, and its size at the last write;
- for `--kills` processes that are killed with SIGKILL at a random moment and begun again: the most
  seconds lost and their median, that is the processor time before the kill plus that of the second
  run minus that of a fit that nobody kills; and how many networks are the same to the last bit.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scaling import problem

from greedynet import GreedyNetClassifier, GreedyNetRegressor
from greedynet.estimators import checkpoint


def regression(n, **parameters):
    X, y = problem(n, 10, seed=0)
    return lambda file: GreedyNetRegressor(n_jobs=1, checkpoint=file, **parameters).fit(X, y)


def classification(**parameters):
    X, y = problem(4_000, 10, seed=0)
    labels = np.digitize(y, np.quantile(y, [0.25, 0.5, 0.75]))
    return lambda file: GreedyNetClassifier(n_jobs=1, checkpoint=file, **parameters).fit(X, labels)


FITS = {
    "corrected": lambda: regression(6_000, max_nodes=120),
    "sampled": lambda: regression(100_000, max_nodes=120),
    "dictionary": lambda: regression(2_000, search="dictionary", n_points=20_000, max_nodes=100),
    "absolute": lambda: regression(4_000, loss="absolute", max_nodes=60),
    "classes": lambda: classification(max_nodes=40),
}


def bits(model):
    network = model.network_
    arrays = (network.inner_weights, network.biases, network.outer_weights)
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()


def timed(fit, file):
    start = time.process_time()
    model = fit(file)
    return time.process_time() - start, bits(model)


def overhead(fit, repeats, folder):
    """What a checkpoint costs, as a line."""
    sizes, writing, write = [], [], checkpoint.write_tree

    def measured(path, *rest):
        start = time.perf_counter()
        write(path, *rest)
        writing.append(time.perf_counter() - start)
        sizes.append(path.stat().st_size)

    checkpoint.write_tree = measured
    seconds, began = [[], []], time.perf_counter()
    for _ in range(repeats):
        for which, file in enumerate((None, folder / "c")):
            seconds[which].append(timed(fit, file)[0])
    share = 2 * sum(writing) / (time.perf_counter() - began)
    checkpoint.write_tree = write
    plain, noted = map(min, seconds)
    return (
        f"{plain:7.1f} {noted / plain:6.2f} {100 * share:6.1f} % {len(sizes) // repeats:7} "
        f"{max(sizes, default=0) / 1e6:6.2f} MB"
    )


def process(name, file):
    """A process that is about to fit, and its processor time so far."""
    command = [sys.executable, __file__, "--inside", name, str(file)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return started, float(started.stdout.readline())


def inside(name, file):
    """Fit in a process of its own, compiled code loaded."""
    fit = FITS[name]()
    regression(300, max_nodes=4)(None)
    print(time.process_time(), flush=True)
    print(json.dumps(timed(fit, file)), flush=True)


def undisturbed(name, file):
    running, _ = process(name, file)
    with running:
        return json.loads(running.stdout.read())


def killed(name, file, seconds):
    """Kill a fit after some seconds, begin again, and return the time of both and the bits."""
    running, at_start = process(name, file)
    time.sleep(seconds)
    running.send_signal(signal.SIGKILL)
    ended = running.stdout.read()
    usage = os.wait4(running.pid, 0)[2]
    if ended:
        return None
    after, found = undisturbed(name, file)
    return usage.ru_utime + usage.ru_stime - at_start + after, found


def kills(name, n_kills, folder):
    moment, file = random.Random(name), folder / "killed"
    whole, wanted = min(undisturbed(name, file) for _ in range(2))
    lost, same = [], []
    while len(lost) < n_kills:
        found = killed(name, file, moment.uniform(0.0, whole))
        if found is not None:
            lost.append(found[0] - whole)
            same.append(found[1] == wanted)
    return f"{max(lost):8.1f} s {np.median(lost):5.1f} s  {sum(same)} of {n_kills}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--fits", default=",".join(FITS))
    parser.add_argument("--inside", nargs=2, metavar=("FIT", "FILE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        inside(*arguments.inside)
        return
    print("fit          seconds  ratio  writing  writes      size  lost most  median  same")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.fits.split(","):
            line = overhead(FITS[name](), arguments.repeats, Path(folder))
            if arguments.kills:
                line += kills(name, arguments.kills, Path(folder))
            print(f"{name:12} {line}", flush=True)


if __name__ == "__main__":
    main()
