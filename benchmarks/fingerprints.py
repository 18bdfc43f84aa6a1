"""Fingerprints of many small fits, to prove that a change of the code has changed no result.

    python benchmarks/fingerprints.py --out before.json
    python benchmarks/fingerprints.py --compare before.json [--only PATTERN]

`--out` runs all cases and writes a file; `--compare` runs them again and prints every case that
differs: which parts of it, the numbers of nodes and why growing stopped, and by how much
predictions differ. It exits with 1 if anything does. `--only` takes a regular expression.

A part is known by the first 16 digits of the SHA-256 of its type, shape and bytes, so the last bit
counts: compare on one machine, with the same libraries. Predictions for some 20 rows are kept as
numbers, to judge a difference by. Seconds are in no part.

The cases are in `fingerprintfits.py`, fits in memory, and `fingerprintfiles.py`, the rest. They use
public names only: the same three files run before and after modules are moved.
"""

import argparse
import json
import re
import sys
import time
from pathlib import Path

import fingerprintfiles  # noqa: F401 - it enters its cases
import numpy as np
from fingerprintfits import CASES, digest

import greedynet


def fingerprint(function):
    """Digests of the parts of a case, and some numbers to judge differences by."""
    try:
        parts = function()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    predictions = [v for k, v in parts.items() if k.endswith("predictions") and v.dtype.kind == "f"]
    numbers = np.concatenate([np.ravel(v) for v in predictions] or [np.zeros(0)])
    return {
        "n_nodes": " ".join(
            v for k, v in parts.items() if k.endswith("n_nodes") and isinstance(v, str)
        ),
        "stop": " ".join(v for k, v in parts.items() if k.endswith("stop")),
        "sum": float(numbers.sum()),
        "predictions": numbers.tolist(),
        "digests": {k: digest(v) for k, v in parts.items()},
    }


def differences(before, now):
    """Say in lines how a case differs."""
    if "error" in now or "error" in before:
        return [f"  was {before.get('error', 'fine')}", f"  is  {now.get('error', 'fine')}"]
    old, new = before["digests"], now["digests"]
    lines = [f"  parts: {', '.join(k for k in {**old, **new} if old.get(k) != new.get(k))}"]
    lines += [f"  {k}: {before[k]} -> {now[k]}" for k in ("n_nodes", "stop") if before[k] != now[k]]
    a, b = np.array(before["predictions"]), np.array(now["predictions"])
    if a.shape != b.shape:
        return [*lines, f"  predictions: {a.shape} -> {b.shape}"]
    apart = np.abs(a - b).max(initial=0.0) / (np.abs(a).max(initial=0.0) or 1.0)
    return [*lines, f"  predictions differ by {apart:.1e} of the largest"]


def compared(before, now):
    """Print what differs, and return whether anything does."""
    n_different = 0
    for name in now:
        old = before.get(name, {"error": "not in the file"})
        if old != now[name]:
            n_different += 1
            print("\n".join([name, *differences(old, now[name])]))
    print(f"{n_different} of {len(now)} cases differ")
    return n_different > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="file to write")
    parser.add_argument("--compare", type=Path, help="file to compare with")
    parser.add_argument("--only", default="", metavar="PATTERN", help="cases to run")
    options = parser.parse_args()
    chosen = {name: function for name, function in CASES.items() if re.search(options.only, name)}
    began, found = time.perf_counter(), {}
    for i, (name, function) in enumerate(chosen.items()):
        if sys.stderr.isatty():
            print(f"\r\033[K{i + 1} of {len(chosen)}: {name}\r", end="", file=sys.stderr)
        found[name] = fingerprint(function)
    print(f"{len(found)} cases of {greedynet.__file__} in {time.perf_counter() - began:.0f} s")
    failed = [f"{name}: {parts['error']}" for name, parts in found.items() if "error" in parts]
    print("".join(f"FAILED {line}\n" for line in failed), end="")
    if options.out:
        options.out.write_text(json.dumps(found, indent=0))
    different = options.compare and compared(json.loads(options.compare.read_text()), found)
    sys.exit(bool(failed or different))


if __name__ == "__main__":
    main()
