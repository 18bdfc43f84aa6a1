"""Placement: which worker holds which partition."""

from collections.abc import Mapping, Sequence


def assign(
    sizes: Sequence[int],
    holders: Sequence[str | None],
    workers: Sequence[str],
    loads: Mapping[str, int] | None = None,
) -> list[str]:
    """Return a worker for each partition.

    A partition stays where it is, unless its worker would then exceed an equal share of the data by
    more than half of the largest partition. Partitions that have to move go to the worker with the
    least data, large ones first.

    Parameters
    ----------
    sizes : sequence of int
        Bytes of each partition.
    holders : sequence of str or None
        Worker that holds each partition; None if no worker does.
    workers : sequence of str
        Addresses, at least one.
    loads : mapping of str to int or None
        Bytes that the workers hold in other partitions.
    """
    load = {worker: (loads or {}).get(worker, 0) for worker in workers}
    most = (sum(sizes) + sum(load.values())) / len(load) + max(sizes, default=0) / 2
    by_size = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
    targets: dict[int, str] = {}
    for i in by_size:
        holder = holders[i]
        if holder in load and load[holder] + sizes[i] <= most:
            targets[i] = holder
            load[holder] += sizes[i]
    for i in by_size:
        if i not in targets:
            targets[i] = min(load, key=lambda worker: load[worker])
            load[targets[i]] += sizes[i]
    return [targets[i] for i in range(len(sizes))]


def largest_load(sizes: Sequence[int], holders: Sequence[str]) -> int:
    """Return the bytes of the worker with the largest load, which determines the time of a pass."""
    load: dict[str, int] = {}
    for n, holder in zip(sizes, holders, strict=True):
        load[holder] = load.get(holder, 0) + n
    return max(load.values(), default=0)
