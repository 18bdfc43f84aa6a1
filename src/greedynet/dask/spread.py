"""Which worker holds which partition."""

from collections.abc import Mapping, Sequence


def spread(
    rows: Sequence[int],
    holders: Sequence[str | None],
    workers: Sequence[str],
    loads: Mapping[str, int] | None = None,
) -> list[str]:
    """Return a worker for each partition.

    A partition stays where it is, unless that worker would then have more than its fair share of
    the rows by half of the largest partition; what has to move goes to the worker with the fewest
    rows, large partitions first.

    Parameters
    ----------
    rows : sequence of int
        Rows of each partition.
    holders : sequence of str or None
        Where the partitions are; None for nowhere.
    workers : sequence of str
        Addresses, at least one.
    loads : mapping of str to int or None
        Rows that workers hold besides these.
    """
    load = {worker: (loads or {}).get(worker, 0) for worker in workers}
    most = (sum(rows) + sum(load.values())) / len(load) + max(rows, default=0) / 2
    by_size = sorted(range(len(rows)), key=lambda i: (-rows[i], i))
    targets: dict[int, str] = {}
    for i in by_size:
        holder = holders[i]
        if holder in load and load[holder] + rows[i] <= most:
            targets[i] = holder
            load[holder] += rows[i]
    for i in by_size:
        if i not in targets:
            targets[i] = min(load, key=lambda worker: load[worker])
            load[targets[i]] += rows[i]
    return [targets[i] for i in range(len(rows))]


def largest_load(rows: Sequence[int], holders: Sequence[str]) -> int:
    """Return the rows of the worker that has most of them, which a pass waits for."""
    load: dict[str, int] = {}
    for n, holder in zip(rows, holders, strict=True):
        load[holder] = load.get(holder, 0) + n
    return max(load.values(), default=0)
