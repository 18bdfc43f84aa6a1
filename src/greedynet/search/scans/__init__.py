"""Scores of all neurons along many directions: compiled code for each kind of activation."""

from greedynet.search.scans.groups import Group, ReluGroup, make_group

__all__ = ["Group", "ReluGroup", "make_group"]
