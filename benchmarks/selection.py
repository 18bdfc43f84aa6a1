"""Greedy selection against bare products with the dictionary, and its memory against the budget.

    python benchmarks/selection.py [--example 5] [--steps 200]

Prints, for the dictionary of one of the paper's examples, in one run:

- seconds for so many OLS steps and for as many bare products `D' q`, in turns, and their ratio;
- peak memory of a whole selection, dense and by blocks, against the dictionary and the budget.

Memory is measured in a process of its own for each case, above what it needs before the selection.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from greedynet.linalg.factor import Factor
from greedynet.paper import load_example
from greedynet.search import DictionarySearch
from greedynet.search.dictionary import MEMORY_BUDGET, Atoms
from greedynet.support.threads import deterministic_threads


def select(dictionary, y, n_steps, search=None):
    search = search or DictionarySearch(dictionary, "ols")
    factor = Factor(y[:, None], capacity=n_steps)
    while factor.size < n_steps:
        found = search.propose(factor)
        search.accept(factor) if factor.append(found.column) else search.reject()
    return factor


def compare_times(example, n_steps, rounds=3):
    """Seconds of OLS steps and of bare products, the best of a few turns each."""
    with deterministic_threads(None) as pool:
        dictionary = Atoms(example.sphere, example.X_train, pool=pool)
    D = np.concatenate([dictionary.atoms(b) for b in dictionary._blocks(len(dictionary))])
    q = np.random.RandomState(0).randn(D.shape[1])
    steps, products = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(n_steps):
            D @ q  # D holds atoms in rows: this is D' q of the docstrings
        products.append(time.perf_counter() - start)
        with deterministic_threads(None) as pool:
            dictionary.pool = pool
            start = time.perf_counter()
            select(dictionary, example.y_train, n_steps)
            steps.append(time.perf_counter() - start)
    return D.nbytes, min(steps), min(products)


def peak_memory(number, n_steps, budget):
    """Bytes a selection takes at its peak, measured in a fresh process."""
    code = [sys.executable, __file__, "--measure", str(number), str(n_steps), str(budget)]
    return json.loads(subprocess.run(code, capture_output=True, text=True, check=True).stdout)


def measure(number, n_steps, budget):
    example = load_example(number)
    # A first small run loads and warms what any selection needs.
    select(Atoms(example.sphere[:200], example.X_train), example.y_train, 3)
    before = high_water()
    with deterministic_threads(None) as pool:
        budgeted = Atoms(example.sphere, example.X_train, memory_budget=budget, pool=pool)
        select(budgeted, example.y_train, n_steps)
    print(json.dumps(high_water() - before))


def high_water():
    """Most bytes this process has held; getrusage would count the parent's as well."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if "VmHWM" in line).split()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--example", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--measure", nargs=3, type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure)
        return
    example = load_example(arguments.example)
    n_steps = arguments.steps
    size, steps, products = compare_times(example, n_steps)
    print(f"example {example.number}: dictionary of {size / 2**20:,.0f} MiB, {n_steps} steps")
    print(f"  OLS steps      {steps:8.2f} s")
    print(f"  bare products  {products:8.2f} s    ratio {steps / products:.2f}  (at most 1.5)")
    dense = peak_memory(example.number, n_steps, MEMORY_BUDGET)
    print(f"  peak, dense    {dense / 2**20:8,.0f} MiB  ratio {dense / size:.2f}  (at most 1.3)")
    for budget in (size // 2, size // 8):
        peak = peak_memory(example.number, n_steps, budget)
        print(
            f"  peak, blocks   {peak / 2**20:8,.0f} MiB  budget {budget / 2**20:,.0f} MiB  "
            f"ratio {peak / budget:.2f}  (at most 1)"
        )


if __name__ == "__main__":
    main()
