"""Files as people have them: one run reads them, or one message says all there is to write.

Every table here is made up. What a messy file means is stated by a plain one: both must give the
same model, to the last bit.
"""

import warnings
from datetime import date, timedelta

import numpy as np
import pytest

from greedynet import TableWarning, fit_table

N = 120
QUICK = {"n_nodes": 4, "correct": False, "n_jobs": 1}
rng = np.random.default_rng(0)
AREA = np.round(rng.uniform(900, 9000, N))
ROOMS = rng.integers(1, 7, N)
PRICE = np.round(20 * AREA + 9_000 * ROOMS + 3_000 * rng.normal(size=N), 2)
DAYS = [date(2009, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 2000, N)]


def house(**columns):
    """A table of houses, as texts; columns are put before the area, the rooms and the price."""
    usual = {"area": texts(AREA, "{:.0f}"), "rooms": texts(ROOMS), "price": texts(PRICE, "{:.2f}")}
    return {**{name: list(cells) for name, cells in columns.items()}, **usual}


def texts(values, form="{}"):
    return [form.format(value) for value in values]


def text_of(table, separator=","):
    quoted = lambda cell: f'"{cell}"' if separator in cell else cell  # noqa: E731
    rows = [list(table), *zip(*table.values(), strict=True)]
    return "".join(separator.join(map(quoted, row)) + "\n" for row in rows)


def file_of(path, table, separator=",", *, before="", after="", encoding="utf-8"):
    path.write_bytes((before + text_of(table, separator) + after).encode(encoding))
    return path


def fitted(source, target="price", **options):
    """Return a model, and what was said about the table."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", TableWarning)
        model = fit_table(source, target, **QUICK, **options)
    lines = [str(w.message) for w in said if issubclass(w.category, TableWarning)]
    return model, "\n".join(lines)


def weights_of(model):
    network = model.network
    names = ("inner_weights", "biases", "outer_weights", "linear_weights", "intercept")
    return [np.asarray(getattr(network, name)).tolist() for name in names]


def same(one, other):
    return weights_of(one) == weights_of(other)


# Dates


DATES = {
    "31.12.2015": "%d.%m.%Y",
    "31/12/2015": "%d/%m/%Y",
    "12/31/2015": "%m/%d/%Y",
    "2015/12/31": "%Y/%m/%d",
    "Dec 31 2015": "%b %d %Y",
    "31 Dec 2015": "%d %b %Y",
    "Dec-31-2015": "%b-%d-%Y",
    "31-Dec-15": "%d-%b-%y",
    "December 31, 2015": "%B %d, %Y",
    "2015-12-31T00:00:00": "%Y-%m-%dT00:00:00",
}


@pytest.mark.parametrize("notation", DATES)
def test_dates_in_every_notation(tmp_path, notation):
    wanted, _ = fitted(file_of(tmp_path / "a.csv", house(sold=texts(DAYS))))
    written = house(sold=[day.strftime(DATES[notation]) for day in DAYS])
    assert same(fitted(file_of(tmp_path / "b.csv", written))[0], wanted)


@pytest.mark.parametrize("form", ["%b-%y", "%b %Y", "%Y-%m", "%m/%Y"])
def test_months(tmp_path, form):
    months = [day.replace(day=1) for day in DAYS]
    wanted, _ = fitted(file_of(tmp_path / "a.csv", house(month=texts(months))))
    written = house(month=[month.strftime(form) for month in months])
    assert same(fitted(file_of(tmp_path / "b.csv", written))[0], wanted)


def test_what_is_said_of_months(tmp_path):
    months = [f"{day:%b-%y}" for day in DAYS]
    lines = fitted(file_of(tmp_path / "a.csv", house(month=months)))[1]
    assert "is read as" in lines
    assert f"{DAYS[0]:%B %Y}" in lines
    days = [f"{day:%b-%d}" for day in DAYS]
    for cells in (days, [*months[1:], str(DAYS[0])]):
        with pytest.raises(ValueError, match=r"'month' holds '\w+-\d\d'.*years of four digits"):
            fitted(file_of(tmp_path / "b.csv", house(month=cells)))


@pytest.mark.parametrize("form", ["{}Q{}", "{}-Q{}", "{} Q{}"])
def test_quarters(tmp_path, form):
    firsts = [day.replace(month=day.month - (day.month - 1) % 3, day=1) for day in DAYS]
    wanted, _ = fitted(file_of(tmp_path / "a.csv", house(quarter=texts(firsts))))
    written = [form.format(day.year, 1 + day.month // 3) for day in firsts]
    assert same(fitted(file_of(tmp_path / "b.csv", house(quarter=written)))[0], wanted)
