"""Columns that say something about rows, beside inputs and target: groups, weights, time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from greedynet.tables.findings import check_present
from greedynet.tables.readers import Table, TableError


@dataclass(frozen=True)
class Roles:
    """Names of the columns, None where there is none.

    Attributes
    ----------
    groups : str or None
        Rows of one group, such as a patient, stay together in folds and where rows are set aside.
    weights : str or None
        Weight of each row.
    time : str or None
        Folds go forward in time, and the rows set aside are the latest. It remains an input.
    groups_argument : str
        The argument that named the groups.
    dates : {"dmy", "mdy"} or None
        Order of day and month in times such as 01/02/2024, if it is known.
    """

    groups: str | None = None
    weights: str | None = None
    time: str | None = None
    groups_argument: str = "groups"
    dates: str | None = None

    @staticmethod
    def of(
        groups: Any, weights: Any, time: Any, hold_out_by: Any, dates: str | None = None
    ) -> "Roles":
        """Return the columns asked for; `hold_out_by` names groups, too."""
        given = {"groups": groups, "weights": weights, "time": time, "hold_out_by": hold_out_by}
        names = {key: str(name) for key, name in given.items() if name is not None}
        by = {names[key] for key in ("groups", "hold_out_by") if key in names}
        if len(by) > 1:
            raise TableError(
                "`groups` must be the column of `hold_out_by`, got "
                f"{names['groups']!r} and {names['hold_out_by']!r}: give one of them."
            )
        argument = "groups" if "groups" in names else "hold_out_by"
        if by and "time" in names:
            raise TableError(
                f"`time` must be given without `{argument}`, got both: a group may last from the "
                "past into the future. Omit one of them."
            )
        columns = names.get(argument), names.get("weights"), names.get("time")
        return Roles(*columns, argument, dates)

    @property
    def no_inputs(self) -> list[str]:
        """Columns that are not inputs."""
        return [name for name in (self.groups, self.weights) if name is not None]

    @property
    def names(self) -> list[str]:
        """All columns."""
        return [*self.no_inputs, *([] if self.time is None else [self.time])]

    def record(self) -> dict[str, str]:
        """Return the columns by role, as plain values."""
        found = {"groups": self.groups, "weights": self.weights, "time": self.time}
        return {role: name for role, name in found.items() if name is not None}

    def check(self, table: Table, target: str) -> None:
        """Raise an error unless the table has the columns, and none is the target."""
        check_present(table, self.names, "column")
        arguments = {
            self.groups_argument: (self.groups, "of the groups"),
            "weights": (self.weights, "of the weights"),
            "time": (self.time, "of the times"),
        }
        for argument, (name, what) in arguments.items():
            if name == target:
                raise TableError(
                    f"`{argument}` must be another column than the target, got {name!r}: name the "
                    f"column {what}."
                )

    def check_choice(self, parameters: Mapping[str, Any], validate: Any) -> None:
        """Raise an error for folds, which groups and time determine, beside validation rows.

        Parameters
        ----------
        parameters : mapping
            Those of the estimator.
        validate : table or None
            Validation rows.
        """
        if validate is None:
            return
        if parameters.get("cv") is not None:
            raise TableError(
                "`cv` must be given without `validate`, got both: the width is chosen by folds or "
                "by validation rows. Omit one of them."
            )
        by_groups = self.groups is not None and self.groups_argument == "groups"
        name = "time" if self.time is not None else "groups" if by_groups else None
        if name is not None:
            raise TableError(
                f"`{name}` determines the folds by which the width is chosen, and must be given "
                "without `validate`: choose by folds, or validate on rows that were chosen so."
            )


NO_ROLES = Roles()
