"""Exact answers about dates, times and levels, in the words of the file, against brute force."""

import json
import warnings
from dataclasses import replace
from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import greedynet
from greedynet.cli import main
from greedynet.exact import extremes, is_monotone, largest_difference, optimise, sensitivity
from networks import all_moments, drawn_model_of_moments


def predictions_of_all(model, moments, sizes, levels=("A", "B")):
    """Return predictions, `(n_moments, n_sizes, n_levels)`, of rows of a table."""
    i, j, k = np.meshgrid(*map(np.arange, (len(moments), len(sizes), len(levels))), indexing="ij")
    table = {
        "when": moments[i.ravel()],
        "size": np.asarray(sizes)[j.ravel()],
        "kind": np.array(levels)[k.ravel()],
    }
    return model.predict(table).reshape(i.shape)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["days", "years", "clock"])
def test_the_optimum_is_that_of_all_moments(name, seed):
    model, moments = drawn_model_of_moments(name, seed), all_moments(name, "D")
    for size in (0.3, (0.5, 1.2)):
        sizes = [size] if isinstance(size, float) else np.linspace(*size, 8)
        tried = predictions_of_all(model, moments, sizes)
        found = extremes(model, {"size": size})
        for end, best in ((found.lowest, -tried.min()), (found.highest, tried.max())):
            assert end.proven
            value = end.value if end is found.highest else -end.value
            if len(sizes) == 1:
                assert value == pytest.approx(best, rel=1e-9, abs=1e-9)
            assert value >= best - 1e-9 * abs(best)
            row = {name: [cell] for name, cell in end.row.items()}
            assert model.predict(row)[0] == pytest.approx(end.value, rel=1e-9, abs=1e-9)


def test_the_optimum_of_times_is_that_of_all_seconds():
    model = drawn_model_of_moments("times", 1)
    seconds = all_moments("times", "s")
    inside = (seconds >= np.datetime64("2020-03-02T05:00")) & (
        seconds <= np.datetime64("2020-03-02T11:30")
    )
    tried = predictions_of_all(model, seconds[inside], [0.7])
    where = {"when": ("2020-03-02 05:00", "2020-03-02 11:30"), "size": 0.7}
    for direction, best in (("max", tried.max()), ("min", tried.min())):
        found = optimise(model, direction, where)
        assert found.proven
        assert found.value == pytest.approx(best, abs=2e-6 * np.ptp(tried) + 1e-6 * abs(best))
        assert "2020-03-02 05:00:00" <= found.row["when"] <= "2020-03-02 11:30:00"
    everywhere = optimise(model, "max", {"size": 0.7})
    assert everywhere.proven
    assert everywhere.value >= predictions_of_all(model, seconds[::60], [0.7]).max()


def test_every_way_to_write_a_range_of_dates():
    model = drawn_model_of_moments("days", 2)
    moments = all_moments("days", "D")
    inside = (moments >= np.datetime64("2019-09-30")) & (moments <= np.datetime64("2020-01-02"))
    best = predictions_of_all(model, moments[inside], [1.0]).max()
    for ends in (
        ("2019-09-30", "2020-01-02"),
        (date(2019, 9, 30), datetime(2020, 1, 2)),
        (pd.Timestamp("2019-09-30"), pd.Timestamp("2020-01-02", tz="Europe/Berlin")),
        (np.datetime64("2019-09-30"), "2 Jan 2020"),
    ):
        assert optimise(model, where={"when": ends, "size": 1}).value == pytest.approx(best)
    half = optimise(model, where={"when": (None, "2019-06-30"), "size": 1}).row["when"]
    assert "2019-03-05" <= half <= "2019-06-30"


def test_several_days_and_ranges_of_dates():
    model = drawn_model_of_moments("days", 3)
    days = np.array(["2019-05-01", "2020-02-29", "2020-03-03"], dtype="M8[us]")
    best = predictions_of_all(model, days, [1.0])
    found = optimise(model, where={"when": ["2019-05-01", *days[1:]], "size": 1})
    assert found.value == pytest.approx(best.max())
    assert found.row["when"] == str(days[best.max(axis=(1, 2)).argmax()].astype("M8[D]"))
    moments = all_moments("days", "D")
    months = moments.astype("M8[M]").astype(int) % 12
    union = moments[(months == 6) & (moments < np.datetime64("2020"))]
    union = np.concatenate([union, np.arange("2020-08-01", "2020-10-16", dtype="M8[D]")])
    ranges = [("2019-07-01", "2019-07-31"), ("2020-08-01", "2020-10-15")]
    found = optimise(model, "min", {"when": ranges, "size": 1})
    best = predictions_of_all(model, union.astype("M8[us]"), [1.0])
    assert found.value == pytest.approx(best.min())


def test_a_day_stands_for_all_of_its_moments():
    model = drawn_model_of_moments("times", 4)
    minutes = np.arange("2020-03-03", "2020-03-04", dtype="M8[m]").astype("M8[us]")
    best = predictions_of_all(model, minutes, [1.0]).max()
    assert optimise(model, where={"when": "2020-03-03", "size": 1}).value >= best
    single = optimise(model, where={"when": "2020-03-03 07:30", "size": 1})
    assert single.row["when"] == "2020-03-03 07:30:00"
    midnight = optimise(model, where={"when": datetime(2020, 3, 3), "size": 1})
    assert midnight.row["when"] == "2020-03-03"


def test_too_little_time_leaves_a_gap():
    model = drawn_model_of_moments("years", 5, n_neurons=40)
    tried = predictions_of_all(model, all_moments("years", "D"), np.linspace(0, 2, 5))
    found = optimise(model, max_seconds=0.3)
    assert found.bound >= tried.max()
    assert found.value <= found.bound
    row = {name: [cell] for name, cell in found.row.items()}
    assert model.predict(row)[0] == pytest.approx(found.value)


def test_other_questions_over_all_days():
    model, other = drawn_model_of_moments("days", 6), drawn_model_of_moments("days", 7)
    moments, sizes = all_moments("days", "D"), np.linspace(0, 2, 21)
    tried = predictions_of_all(model, moments, sizes)
    change = sensitivity(model, ["size"])["size"]
    slopes = np.diff(tried, axis=1) / np.diff(sizes)[0]
    assert change.proven
    assert change.steepest_fall <= slopes.min() + 1e-9
    assert change.steepest_rise >= slopes.max() - 1e-9
    assert change.steepest_rise <= slopes.max() + 0.2 * np.ptp(slopes)
    rising = is_monotone(model, "size")
    assert rising.holds is False
    (first, second), (a, b) = rising.rows, rising.predictions
    assert first["when"] == second["when"]
    assert a > b
    given = {name: [first[name], second[name]] for name in first}
    np.testing.assert_allclose(model.predict(given), [a, b])
    difference = largest_difference(model, other, {"size": 1})
    both = [predictions_of_all(one, moments, [1.0]) for one in (model, other)]
    assert difference.proven
    assert difference.value == pytest.approx(np.abs(both[0] - both[1]).max())
    with pytest.raises(ValueError, match="got 'when', which holds dates such as 2024-01-31"):
        is_monotone(model, "when")


def test_rising_with_a_column_on_all_days_is_proven():
    model = drawn_model_of_moments("days", 8)
    steep = model.network.linear_weights.copy()
    steep[-3] += 100.0  # the size
    model = replace(model, estimator=replace(model.network, linear_weights=steep))
    assert is_monotone(model, "size").holds is True
    assert is_monotone(model, "size", increasing=False).holds is False


# Tables that were fitted, and the command


@pytest.fixture(scope="module")
def shop():
    """Return a fitted model of sales by date and time, with every kind of column."""
    rng = np.random.default_rng(0)
    days = np.arange("2023-01-01", "2024-12-31", dtype="M8[D]")
    n = len(days)
    month = days.astype("M8[M]").astype(int) % 12
    open_for = rng.integers(240, 600, n)
    town = rng.choice([f"town {i:03}" for i in range(120)], n)
    table = {
        "date": [str(day.item().strftime("%d.%m.%Y")) for day in days],
        "open": [f"{minutes // 60}:{minutes % 60:02}:00" for minutes in open_for],
        "kind": rng.choice(["A", "B", "C"], n),
        "new": rng.choice(["true", "false"], n),
        "weight": [f"{x} lbs" for x in rng.integers(1000, 4000, n)],
        "town": town,
        "rain": np.where(rng.random(n) < 0.2, "", rng.integers(0, 30, n).astype(str)),
        "sales": 100 + 20 * np.sin(month) + 0.1 * open_for + rng.normal(0, 2, n),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", greedynet.TableWarning)
        return greedynet.fit_table(table, "sales", n_nodes=14)


@pytest.fixture
def file(shop, tmp_path):
    shop.save(tmp_path / "shop.safetensors")
    return tmp_path / "shop.safetensors"


def asked(file, *arguments):
    return CliRunner().invoke(main, ["ask", str(file), *arguments])


def conditions(*texts):
    return [part for text in texts for part in ("--where", text)]


OTHERS = ("kind=A", "new=true", "weight=2000 lbs", "town=town 007", "rain=3", "open=5:00:00")


def test_a_range_of_dates_on_the_command_line(shop, file):
    run = asked(file, "--max", "--json", *conditions("date>=01.03.2024", "date<1.7.2024", *OTHERS))
    assert run.exit_code == 0, run.output
    (answer,) = json.loads(run.output)
    days = np.arange("2024-03-01", "2024-07-01", dtype="M8[D]").astype("M8[us]")
    rows = {"date": days} | {
        name: [cell] * len(days) for name, cell in (text.split("=") for text in OTHERS)
    }
    y = shop.predict(rows)
    assert answer["proven"]
    assert answer["value"] == pytest.approx(y.max(), rel=1e-9)
    assert answer["row"]["date"] == str(days[y.argmax()].astype("M8[D]"))
    assert answer["row"]["open"] == "5 h"
    assert answer["row"]["weight"] == 2000.0
    assert answer["row"]["town"] == "town 007"
    python = optimise(
        shop,
        "max",
        {
            "date": ("2024-03-01", "2024-06-30"),
            "kind": "A",
            "new": True,
            "weight": "2000 lbs",
            "town": "town 007",
            "rain": 3,
            "open": pd.Timedelta("5h"),
        },
    )
    assert python.value == pytest.approx(answer["value"])


def test_all_of_the_data_without_a_condition(shop, file):
    run = asked(file, "--min", "--max-seconds", "4")
    assert run.exit_code == 0, run.output
    assert run.output.startswith("smallest prediction: ")
    (date_line,) = [line for line in run.output.splitlines() if line.startswith("  date")]
    assert "2023-01-01" <= date_line.split()[1] <= "2024-12-30"
    value = float(run.output.split(": ")[1].split(" ")[0])
    rows = {name: [cell] for name, cell in optimise(shop, "min", max_seconds=4).row.items()}
    assert shop.predict(rows)[0] == pytest.approx(value, rel=1e-3)


def test_conditions_in_the_words_of_the_file(file):
    texts = ("date=29.02.2024", "kind=A,C", "new=TRUE", "1500<=weight<=2000 lbs", "rain is missing")
    run = asked(file, "--max", "--json", *conditions(*texts, "open<=5:30:00", "town=town 001"))
    assert run.exit_code == 0, run.output
    row = json.loads(run.output)[0]["row"]
    assert row["date"] == "2024-02-29"
    assert row["kind"] in ("A", "C")
    assert row["new"] is True
    assert 1500 <= row["weight"] <= 2000
    assert row["rain"] is None
    assert float(row["open"].removesuffix(" h")) <= 5.5


def test_everything_that_is_wrong_is_said_at_once(file):
    run = asked(
        file,
        *conditions("dat>=2024-01-01", "kind=Z", "date<=soon", "town=town 01", "weight=heavy"),
        *("--integer", "sizes", "--constraint", "weigth <= 3"),
    )
    assert run.exit_code == 2
    lines = run.output.splitlines()
    assert len(lines) == 7
    assert not any("`" in line for line in lines), run.output
    for words in (
        "--where must be a condition on a column, such as 'age<=30' or 'kind=A', got 'dat>=2024",
        "--where must give levels of the category 'kind', which are A, B, C; got 'Z'",
        "--where must compare 'date' with dates (day/month/year), got 'date<=soon'",
        "which are town 000, town 001",
        "did you mean 'town ",
        "--where must compare 'weight' with numbers",
        "--integer names no column 'sizes'",
        "--constraint must be a sum of columns",
    ):
        assert words in run.output


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["date>=2024-05-01", "date<2024-05-01"], "must leave moments of 'date'"),
        (["date>=2025-05-01"], "it goes from 2023-01-01 to 2024-12-30"),
        (["date=2024-05-01", "date<2024-06-01"], "either values of 'date' or its ends"),
        (["kind<=B"], "levels of 'kind' by '=', such as 'kind=A', got 'kind<=B'"),
        (["open=never"], "must compare 'open' with durations"),
    ],
)
def test_conditions_that_are_refused(file, texts, words):
    run = asked(file, "--max", *conditions(*texts))
    assert run.exit_code == 2
    assert words in run.output


def test_an_empty_date_is_one_more_choice():
    rng = np.random.default_rng(1)
    days = np.arange("2023-01-01", "2024-02-01", dtype="M8[D]")
    cells = [str(day) for day in days]
    y = 5.0 * np.sin(np.arange(len(days)) / 60.0)
    for at in rng.choice(len(days), 80, replace=False):
        cells[at], y[at] = "", 30.0
    model = greedynet.fit_table({"date": cells, "y": y}, "y", n_nodes=12)
    all_days = optimise(model)
    assert all_days.value == pytest.approx(model.predict({"date": days}).max())
    empty = optimise(model, where={"date": np.nan})
    assert empty.value == pytest.approx(model.predict({"date": [""]})[0])
    either = optimise(model, where={"date": [("2023-02-01", "2023-12-24"), np.nan]})
    assert either.value == pytest.approx(empty.value)
    assert np.isnan(either.row["date"])
