"""Columns as they come: marks of numbers, dates, durations, encodings, and what is said of them."""

import ast
import csv
import json
import warnings
from datetime import date, datetime, timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from extras import need
from greedynet import TableWarning, fit_table, learning_curve, load, write_report
from greedynet.cli import main
from greedynet.report.summary import _cells
from greedynet.tables.columns import Columns, Input
from greedynet.tables.findings import Findings
from greedynet.tables.kinds import Dates, Durations, Numbers, Wording, from_state
from greedynet.tables.kinds.dates import position
from greedynet.tables.load import open_like
from greedynet.tables.readers import TableError, open_table
from greedynet.tables.readers.base import ROWS
from greedynet.tables.scores import evaluate
from greedynet.tables.survey import decide, survey
from reports import contents

MESSY = Path(__file__).parent / "data" / "messy"
WORDS = Wording("t: column 'x'", "`text='x'` to treat them as text", "correct them")


def decided(cells, dates=None, words=WORDS, **marks):
    """The kind of a column with these cells, and what was assumed."""
    typed = isinstance(cells[0], np.datetime64)
    table = open_table({"x": np.array(cells, dtype="M8[us]" if typed else object)}, **marks)
    return decide(survey(table, ["x"])["x"], words, dates, table.marks)


def encoded(kind, cells):
    cells = cells if isinstance(cells, np.ndarray) else np.array(cells, dtype=object)
    out = np.zeros((len(cells), kind.n_features))
    problems = {what: where for what, where in kind.encode(cells, out).items() if where.any()}
    return out, problems


def value(kind, cell):
    """What a kind reads in a text; None for nothing."""
    found = kind.value(cell)
    return None if found is None else found.item()


def number(cell, decimal="."):
    """What the numbers of a column read that holds nothing but this text and 7; None for text."""
    kind, _ = decided([cell, "7"] if "%" not in cell else [cell], decimal=decimal)
    return value(kind, cell) if isinstance(kind, Numbers) else None


def quiet(source, target, **options):
    """A fit whose assumptions are tested elsewhere."""
    with warnings.catch_warnings(action="ignore", category=TableWarning):
        return fit_table(source, target, **options)


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


# Marks of numbers


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        ("$228,704", 228704),
        ("-$5", -5),
        ("$-5.50", -5.5),
        ("(1,234)", -1234),
        ("1'234.50", 1234.5),
        ("1\u202f234\u202f567", 1234567),
        ("EUR 5", 5),
        ("5 USD", 5),
        ("40.0%", 40),
        ("\u22125", -5),
        ("1,234,567.5", 1234567.5),
    ],
)
def test_numbers_with_marks(cell, wanted):
    assert number(cell) == wanted


@settings(deadline=None)
@given(st.integers(-(10**12), 10**12), st.sampled_from([",", " ", "'", "\u00a0"]))
def test_numbers_are_read_as_they_were_written(cents, mark):
    value = cents / 100
    text = f"{value:,.2f}".replace(",", mark)
    assert number(text) == number(f"${text}") == value
    german = text.replace(".", "#").replace(mark, "." if mark == "," else mark).replace("#", ",")
    assert number(german, ",") == value


@settings(deadline=None)
@given(st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31)))
def test_dates_are_read_as_they_were_written(moment):
    moment = moment.replace(microsecond=0)
    for form, order in (
        ("%Y-%m-%d %H:%M:%S", None),
        ("%Y/%m/%dT%H:%M:%SZ", None),
        ("%d %B %Y %I:%M:%S %p", None),
        ("%b %d, %Y %H:%M:%S", None),
        ("%d.%m.%y %H:%M:%S", None),
        ("%d/%m/%Y %H:%M:%S", "dmy"),
        ("%m-%d-%Y %H:%M:%S", "mdy"),
    ):
        assert value(Dates(order=order), moment.strftime(form)) == moment, form


@settings(deadline=None)
@given(st.text(max_size=12))
def test_any_text_is_something(text):
    kind, _ = decided(["a", "b", text])
    assert kind is None
    for read in (Numbers(","), Dates(), Durations()):
        value(read, text.strip())  # raises nothing


@pytest.mark.parametrize(
    "cell",
    ["12,34,567", "1 2", "5kg3", "12.03.2020", "1-2", "(-5)", "$5 %", "$", "EUROPE 5", "", "10A"],
)
def test_texts_that_are_no_numbers(cell):
    assert number(cell) is None
    assert number(cell, ",") is None


@pytest.mark.parametrize(
    ("cells", "notation", "values"),
    [
        (["1,234,567", "5", "1,144"], Numbers(","), [1234567, 5, 1144]),
        (["1,234.5", "1.5", "1,144"], Numbers(","), [1234.5, 1.5, 1144]),
        (["1,144", "700"], Numbers(","), [1144, 700]),
        (["$228,704", "$1,000"], Numbers(",", "$"), [228704, 1000]),
        (["$5", "7", "$1,144.50"], Numbers(",", "$"), [5, 7, 1144.5]),
        (["1 234", "5.5"], Numbers(" "), [1234, 5.5]),
        (["40 %", "12.5%"], Numbers("", "", True), [40, 12.5]),
        (["5,850 sqft", "900 sqft"], Numbers(",", unit="sqft"), [5850, 900]),
        (["5 kg", "3.5 kg"], Numbers(unit="kg"), [5, 3.5]),
        (["1,144", "1,5"], Numbers(decimal=","), [1.144, 1.5]),
        (["42.000,00", "7"], Numbers(".", decimal=","), [42000, 7]),
        (["228.704,00 €", "7,00 €"], Numbers(".", "€", decimal=","), [228704, 7]),
        (["1.144", "1,5", "1.234.567"], Numbers(".", decimal=","), [1144, 1.5, 1234567]),
        (["(1,234.50)", "-$5"], Numbers(",", "$"), [-1234.5, -5]),
    ],
)
def test_marks_that_can_only_mean_one_thing(cells, notation, values):
    kind, said = decided([*cells, ""])
    assert kind == notation
    assert "is read as" in said
    out, problems = encoded(kind, [*cells, ""])
    np.testing.assert_array_equal(out[:, 0], [*values, np.nan])
    assert problems.keys() == {"empty"}
    assert from_state(json.loads(json.dumps(kind.state()))) == kind


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1,144", "1.5"], r"holds '1,144' beside numbers with a decimal mark: write `thousands="),
        (["1,144", "1144"], r"holds '1,144' beside numbers of four digits without a mark"),
        (["1,144", "2,350"], r"holds '1,144' and the like, all with one mark before three digits"),
        (["1,5", "2.5"], r"holds 1 cells such as '1,5' .*beside numbers with a point"),
        (["5 kg", "7"], r"holds '5 kg' beside numbers without 'kg'"),
        (["40 %", "0.4"], r"holds '40 %' beside numbers without a per cent sign"),
        (["$5", "€7"], r"holds both '\$5' and '€7': convert them to one currency"),
        (["1,234,567", "1 234"], r"holds both '1,234,567' and '1 234'"),
    ],
)
def test_marks_that_could_mean_two_things_are_refused(cells, message):
    with pytest.raises(TableError, match=message):
        decided(cells)


@pytest.mark.parametrize(
    ("notation", "cell"),
    [
        (Numbers(" "), "1,144"),
        (Numbers(",", "$"), "€5"),
        (Numbers(","), "5 %"),
        (Numbers(","), "0,144"),
        (Numbers(","), "007,144"),
    ],
)
def test_numbers_in_another_notation_are_none(notation, cell):
    assert value(notation, cell) is None
    assert value(notation, "7") == 7


def test_cells_are_quoted_as_they_are_written():
    _, said = decided(["1.234,50", "3"], decimal=",")
    assert said == "'1.234,50' is read as 1234.5"
    with pytest.raises(TableError, match=r"holds '1\.144' .*`thousands=\"\.\"`"):
        decided(["1.144", "2.350"], decimal=",")


def test_marks_are_decided_over_all_blocks():
    cells = ["1,144"] * 10 + ["7"] * ROWS
    assert decided(cells)[0] == (Numbers(","))
    with pytest.raises(TableError, match="beside numbers with a decimal mark"):
        decided([*cells, "1.5"])


def test_promised_marks():
    kind, said = decided(["1,144", "1.5", "7,000"], thousands=",")
    assert (kind, said) == ((Numbers(",")), "")
    kind, _ = decided(["1.144", "1,5", "7"], decimal=",", thousands=".")
    np.testing.assert_array_equal(encoded(kind, ["1.144", "1,5", "7"])[0][:, 0], [1144.0, 1.5, 7.0])
    with pytest.raises(TableError, match=r"'1\.5' in data row 1, a number with a point"):
        decided(["1.5", "2"], decimal=",", thousands=".")
    with pytest.raises(TableError, match=r"`thousands` must be one of .* got '.'"):
        open_table({"x": [1]}, thousands=".")


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-(10**9), 10**9), st.sampled_from([1, 10, 100, 1000])), min_size=1
    ),
    st.sampled_from(
        [
            Numbers(),
            Numbers(","),
            Numbers(",", "$"),
            Numbers(".", "EUR", decimal=","),
            Numbers("'", unit="m\u00b2"),
            Numbers(" ", percent=True),
        ]
    ),
)
def test_numbers_of_each_notation(values, notation):
    cells, wanted = [], []
    for numerator, divisor in values:
        wanted.append(numerator / divisor)
        text = f"{wanted[-1]:,}".replace(",", "#").replace(".", notation.decimal)
        text = text.replace("#", notation.thousands)
        end = " %" if notation.percent else f" {notation.unit}" if notation.unit else ""
        sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
        cells.append(f"{sign}{notation.currency}{text}{end}")
    out, problems = encoded(notation, [*cells, ""])
    np.testing.assert_array_equal(out[:, 0], [*wanted, np.nan])
    assert problems.keys() == {"empty"}
    others = ["x", "1..2", "--1", "1_0", "+-1", "0x1", "1e", "5 5 5"]
    assert np.isnan(encoded(notation, others)[0]).all()
    found = encoded(notation, ["+5", "1e3", "(3)", "\u22125"])[0][:, 0]
    has_end = notation.percent or notation.unit
    np.testing.assert_array_equal(found, [np.nan] * 4 if has_end else [5, 1000, -3, -5])


def store_of(cells):
    return open_table({"x": np.array(cells, dtype=object)}).store()


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.integers(1, 17))
def test_duckdb_rounds_decimals_as_python_does(values, digits):
    cells = [f"{value:.{digits}g}" for value in values] + [repr(value) for value in values]
    arrays = store_of(cells).query("select try_cast(c0 as double) as v from {t}")
    np.testing.assert_array_equal(arrays["v"], [float(cell) for cell in cells])


def test_the_model_remembers_how_numbers_are_written():
    x = np.arange(20) * 100
    table = {"x": [f"{v:,}" for v in x], "share": [f"{v % 7} %" for v in x], "y": 3.0 * x}
    with pytest.warns(TableWarning, match="the table") as caught:
        model = fit_table(table, "y", n_nodes=2)
    assert [str(warning.message) for warning in caught] == [
        "the table: column 'x': '1,000' is read as 1000, as all numbers below 1,000 are without "
        "the mark.",
        "the table: column 'share': '0 %' is read as a number of per cent.",
    ]
    assert model.predict({"x": ["1,144"], "share": ["3 %"]}) == pytest.approx([3 * 1144])
    assert model.predict({"x": [1144], "share": [3]}) == pytest.approx([3 * 1144])
    with pytest.raises(TableError, match=r"'share' must hold numbers such as '1234 %'.*holds '3'"):
        model.predict({"x": ["1,144"], "share": ["3"]})
    with pytest.raises(TableError, match=r"'x' must hold numbers such as '1,234'.*holds '1,5'"):
        model.predict({"x": ["1,5"], "share": ["3 %"]})
    plain = fit_table({"x": x, "y": x}, "y", n_nodes=2)
    with pytest.raises(TableError, match=r"holds '1,144' .*thousands, write `thousands=\",\"`"):
        plain.predict({"x": ["1,144"]})


def test_targets_with_marks(tmp_path):
    x = np.arange(30)
    table = {"x": x, "y": [f"${1000 * v:,}.50" for v in x]}
    model = quiet(table, "y", n_nodes=2)
    np.testing.assert_allclose(model.predict({"x": x}), 1000 * x + 0.5)
    model.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert evaluate(again, open_table(table))["rmse"] == pytest.approx(0, abs=1e-6)
    durations = {"x": x, "y": [f"{v}:30:00" for v in x]}
    model = quiet(durations, "y", n_nodes=2)
    np.testing.assert_allclose(model.predict({"x": x}), x + 0.5)
    dates = {"x": x, "y": [f"2024-01-{v + 1:02d}" for v in x]}
    with pytest.raises(TableError, match=r"the target 'y' holds dates, .*days since the first"):
        fit_table(dates, "y")


@pytest.mark.slow
def test_learning_curves_of_targets_with_marks():
    x = np.linspace(-1, 1, 200)
    with warnings.catch_warnings(action="ignore", category=TableWarning):
        curve = learning_curve({"x": x, "y": [f"${1e6 * v:,.2f}" for v in x]}, "y", n_nodes=2)
    assert curve.measure == "rmse"


# Dates


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-01-31", datetime(2024, 1, 31)),
        ("2024/1/31", datetime(2024, 1, 31)),
        ("2024-03", datetime(2024, 3, 1)),
        ("20240131T1205", datetime(2024, 1, 31, 12, 5)),
        ("31/01/2024", datetime(2024, 1, 31)),
        ("31.01.24", datetime(2024, 1, 31)),
        ("31 January 2024", datetime(2024, 1, 31)),
        ("Jan 31st, 2024", datetime(2024, 1, 31)),
        ("31-Jan-2024", datetime(2024, 1, 31)),
        ("Sept 2024", datetime(2024, 9, 1)),
        ("2024Q3", datetime(2024, 7, 1)),
        ("Wed, 31 Jan 2024 12:05:07 GMT", datetime(2024, 1, 31, 12, 5, 7)),
        ("2024-01-31T12:05:07.25+02:00", datetime(2024, 1, 31, 12, 5, 7, 250000)),
        ("1/31/2024 12:05 AM", datetime(2024, 1, 31, 0, 5)),
        ("1/31/2024 1:05 pm", datetime(2024, 1, 31, 13, 5)),
    ],
)
def test_forms_of_dates(text, moment):
    assert moment in (value(Dates(order="dmy"), text), value(Dates(order="mdy"), text))


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-30",
        "13/13/2024",
        "4711-12",
        "1-2",
        "decision 2024",
        "2024",
        "12:30",
        "24-01",
        "2024-01-31 25:00",
        "2024-01-31 13:00 pm",
        "red",
    ],
)
def test_texts_that_are_no_dates(text):
    assert value(Dates(order="dmy"), text) is value(Dates(order="mdy"), text) is None


def test_fast_and_careful_reading_of_dates_agree():
    texts = ["2024-02-29", "2024-01-31 12:05", "1999-12-31T23:59:59.5", "0001-01-01"]
    careful = [value(Dates(), text.replace("-", "/")) for text in texts]
    assert [value(Dates(), text) for text in texts] == careful
    assert careful == [datetime.fromisoformat(text) for text in texts]
    assert value(Dates(), "2023-02-29") is None


def test_orders_of_day_and_month():
    kind, said = decided(["01/02/2024", "31/12/2023"])
    assert (kind.order, kind.first) == ("dmy", "2023-12-31 00:00:00")
    assert said == "dates are read as day/month/year, as in '31/12/2023'"
    assert decided(["01/02/2024", "12/31/2023"])[0].order == "mdy"
    assert decided(["01.02.2024", "03.04.2024"])[0].order == "dmy"
    assert decided(["01/02/2024", "03/04/2024"], "mdy")[0].order == "mdy"
    assert decided(["2024-01-02", "2024-03-04"]) == (decided(["2024-01-02", "2024-03-04"], "mdy"))
    assert decided(["12/31/99", "01/02/98"])[0].first == "1998-01-02 00:00:00"


@pytest.mark.parametrize(
    ("cells", "promised", "message"),
    [
        (["01/02/2024", "03/04/2024"], None, r"'01/02/2024', none with a day above 12: write `da"),
        (["31/12/2023", "12/31/2023"], None, r"'31/12/2023', day first, and '12/31/2023', month"),
        (["31/12/2023", "01/02/2024"], "mdy", r"'31/12/2023', which is no date with `dates='mdy'`"),
        (["25/10/12", "24/10/11"], None, r"'25/10/12', of which the year could be the first"),
        (["2024-01-31"] * 19 + ["soon"], None, r"has 19 dates, but 'soon' in data row 20: if that"),
        ([np.datetime64("200000-01-01")], None, "dates beyond the years 1 to 9999"),
        (["2024-01-31"] * 19 + ["17"], None, r"has 19 dates, but '17' elsewhere: if that"),
    ],
)
def test_dates_that_could_be_others_are_refused(cells, promised, message):
    with pytest.raises(TableError, match=message):
        decided(cells, promised)


def test_new_dates_are_read_in_the_order_of_the_training_data():
    kind = Dates("2020-01-01", "2024-01-01", "days", (), "mdy")
    same, problems = encoded(kind, ["03/04/2024", "2024-03-04", "Mar 4, 2024"])
    assert len(set(same[:, 0])) == 1
    assert not problems
    out, problems = encoded(kind, ["13/04/2024", ""])
    assert np.isnan(out).all()
    assert {what: where.tolist() for what, where in problems.items()} == {
        "text": [True, False],
        "empty": [False, True],
    }
    # Without an order in the training data, one is not invented.
    _, problems = encoded(Dates("2020-01-01", "2024-01-01"), ["03/04/2024"])
    assert problems.keys() == {"text"}


def day_texts(start, step, n):
    return [str(datetime.fromisoformat(start) + i * timedelta(**step)) for i in range(n)]


@pytest.mark.parametrize(
    ("texts", "unit", "cycles"),
    [
        (day_texts("2020-01-01", {"days": 1}, 6), "days", ()),
        (day_texts("2020-01-01", {"days": 1}, 60), "days", ("week",)),
        (day_texts("2020-01-01", {"days": 1}, 800), "years", ("year", "week")),
        (day_texts("2020-01-01", {"days": 7}, 120), "years", ("year",)),
        (day_texts("2020-01-01", {"hours": 1}, 24 * 3), "days", ("day",)),
        (day_texts("2020-01-01", {"minutes": 10}, 100), "hours", ()),
        (day_texts("2020-01-01", {"hours": 12}, 800), "days", ("year", "week")),
        ([f"{y}-01-01" for y in range(1990, 2020)], "years", ()),
        ([f"{y}-{m:02d}-01" for y in range(2000, 2003) for m in range(1, 13)], "years", ("year",)),
        (["2000-01-31", "2000-02-29", "2000-03-31", "2002-04-30"], "years", ("year",)),
    ],
)
def test_cycles_are_those_that_the_data_span(texts, unit, cycles):
    kind, _ = decided(texts)
    assert (kind.unit, kind.cycles) == (unit, cycles)
    assert kind.n_features == len(kind.features("d")) == 1 + 2 * len(cycles)
    assert from_state(json.loads(json.dumps(kind.state()))) == kind


def test_features_of_dates():
    kind = Dates("2019-01-01", "2024-01-01", "years", ("year", "week", "day"))
    texts = ["2020-01-01", "2023-01-01", "2020-01-08", "2020-07-01 12:00", "2020-07-02 12:00"]
    out, _ = encoded(kind, texts)
    for start in (1, 3, 5):  # pairs lie on the circle
        np.testing.assert_allclose((out[:, start : start + 2] ** 2).sum(axis=1), 1.0)
    np.testing.assert_allclose(out[0, 1:3], [0, 1], atol=1e-12)  # a year begins with sine 0
    np.testing.assert_array_equal(out[0, 1:3], out[1, 1:3])  # leap year or not
    np.testing.assert_allclose(out[0, 3:5], out[2, 3:5], atol=1e-12)  # a week later
    np.testing.assert_allclose(out[3, 5:7], out[4, 5:7], atol=1e-12)  # a day later
    np.testing.assert_allclose(out[3, 5:7], [0, -1], atol=1e-12)  # noon
    assert out[0, 0] == 2020
    assert out[3, 0] == pytest.approx(2020 + 182.5 / 366)
    monday = np.array(["2024-01-01"], dtype="M8[us]")
    assert position(monday, "week") == 0
    days, _ = encoded(Dates("2020-02-28 06:00:00", "2020-03-05", "days"), ["2020-03-01 12:00"])
    assert days[0, 0] == 2.5
    hours, _ = encoded(Dates("2020-02-28 06:00:00", "2020-02-29", "hours"), ["2020-02-28 07:30"])
    assert hours[0, 0] == 7.5


def test_pictures_of_dates_show_places_that_the_data_have():
    by_day = Dates("2020-01-01", "2024-01-01", "years", ("week",))
    by_hour = Dates("2020-01-01", "2024-01-01", "years", ("week", "day"))
    days = np.datetime64("2024-01-01", "us") + np.arange(7).astype("m8[D]")
    for kind, moments in ((by_day, days), (by_hour, days + np.timedelta64(12, "h"))):
        trend, week, *_ = kind.parts("when")
        assert (trend.name, trend.at, trend.values) == ("when: year", (0,), None)
        np.testing.assert_allclose(week.values, encoded(kind, moments)[0][:, week.at], atol=1e-12)


def test_every_source_gives_the_same_dates(tmp_path):
    pandas, arrow = need("pandas"), need("pyarrow")
    need("pyarrow.parquet")
    moments = [datetime(2023, 1, 1) + i * timedelta(hours=7) for i in range(900)]
    spans = [timedelta(minutes=i) for i in range(900)]
    texts = {"when": list(map(str, moments)), "took": list(map(str, spans))}
    frame = pandas.DataFrame({"when": moments, "took": spans})
    zoned = frame.assign(when=frame["when"].dt.tz_localize("Europe/Berlin", ambiguous=True))
    frame.to_parquet(tmp_path / "a.parquet")
    zoned.to_parquet(tmp_path / "z.parquet")
    sources = [
        texts,
        {"when": np.array(moments, dtype="M8[s]"), "took": np.array(spans, dtype="m8[ms]")},
        frame,
        zoned,
        tmp_path / "a.parquet",
        tmp_path / "z.parquet",
    ]
    if find_spec("polars") is not None:
        polars = import_module("polars")
        sources.append(polars.DataFrame({"when": moments, "took": spans}))
    wanted = None
    for source in sources:
        table = open_table(source)
        kinds = [decide(found, WORDS)[0] for found in survey(table, ["when", "took"]).values()]
        assert kinds[0] == Dates(str(moments[0]), str(moments[-1]), "days", ("week", "day"))
        columns = Columns((Input("when", kinds[0]), Input("took", kinds[1])))
        X = np.concatenate(
            [columns.encode(b, Findings("t"))[0] for b in table.blocks(columns.names)]
        )
        wanted = X if wanted is None else wanted
        np.testing.assert_allclose(X, wanted, rtol=1e-12, atol=1e-12)
    dates = arrow.table({"day": [date(2024, 1, 31), None, date(2024, 3, 1)]})
    arrow.parquet.write_table(dates, tmp_path / "d.parquet")
    (block,) = open_table(tmp_path / "d.parquet").blocks(["day"])
    assert block["day"].tolist() == [datetime(2024, 1, 31), None, datetime(2024, 3, 1)]


def test_a_season_is_learned_from_dates(tmp_path):
    moments = np.datetime64("2020-01-01") + np.arange(1000)
    when = moments.astype(str)
    y = np.sin(2 * np.pi * position(moments.astype("M8[us]"), "year"))
    model = fit_table({"when": when[:800], "y": y[:800]}, "y", n_nodes=2)
    assert model.columns.features[1:3] == ("when: sin of year", "when: cos of year")
    np.testing.assert_allclose(model.predict({"when": when[800:]}), y[800:], atol=1e-8)
    np.testing.assert_allclose(model.predict({"when": moments[800:]}), y[800:], atol=1e-8)
    model.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.columns == model.columns
    np.testing.assert_array_equal(again.predict({"when": when}), model.predict({"when": when}))
    assert bool(model.outside({"when": ["2030-01-01"]}).rows[0])
    with pytest.raises(TableError, match=r"'when' must hold dates such as 2024-01-31, .* 'soon'"):
        model.predict({"when": ["soon"]})


@pytest.mark.parametrize(
    "changed", [{"unit": "weeks"}, {"cycles": ["moon"]}, {"order": "ymd"}, {"first": "soon"}]
)
def test_forged_dates_are_refused(changed):
    state = Dates("2020-01-01", "2021-01-01").state() | changed
    with pytest.raises(ValueError, match=r"dates with|Invalid isoformat"):
        from_state(state)


# Durations


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("1:30:00", 1.5),
        ("26:15", 26.25),
        ("2 days, 1:30:00", 49.5),
        ("0 days 01:30:00", 1.5),
        (str(timedelta(hours=-22, minutes=-30)), -22.5),
        ("PT1H30M", 1.5),
        ("P1DT12H", 36),
        ("1 h 30 min", 1.5),
        ("1h30m", 1.5),
        ("90 min", 1.5),
        ("1:30 PM", 13.5),
        ("12:00 am", 0),
        ("-0:30", -0.5),
    ],
)
def test_forms_of_durations(text, hours):
    assert value(Durations(), text) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["1:65", "13:00 pm", "P", "h", "2 kg", "1 min 2 h"])
def test_texts_that_are_no_durations(text):
    assert value(Durations(), text) is None


def test_letters_are_durations_only_beside_others():
    lengths = ["5 m", "80s", "3 d"]
    for column in (["5 m", "7 m"], ["80s", "90s"], lengths):
        assert not isinstance(decided(column)[0], Durations)
    assert decided(["1h 30m", *lengths])[0] == Durations(0)
    hours = [cell / timedelta(hours=1) for cell in (value(Durations(), text) for text in lengths)]
    np.testing.assert_allclose(hours, [5 / 60, 80 / 3600, 72])


def test_durations_and_times_of_day():
    kind, said = decided(["1:30:00", "26:00:00"])
    assert (kind, said) == (Durations(3), "'1:30:00' is read as a duration")
    assert decided(["0:30", "3:10"])[0] == Durations(2)
    clock, said = decided(["05:30", "13:45", "23:00"])
    assert (clock, said) == (Durations(2, True), "'05:30' is read as a time of day")
    out, problems = encoded(clock, ["6:00", "18:00", ""])
    np.testing.assert_allclose(out[:2], [[6, 1, 0], [18, -1, 0]], atol=1e-12)
    assert np.isnan(out[2]).all()
    assert problems.keys() == {"empty"}
    _, problems = encoded(Durations(3), ["59:59"])  # hours or minutes
    assert problems.keys() == {"text"}
    with pytest.raises(TableError, match=r"'59:59' beside '1:00:05', which could be hours or min"):
        decided(["59:59", "1:00:05"])


# Encodings


def test_western_letters_are_read_and_it_is_said(tmp_path):
    text = "größe,preis\n" + "1,2\n3,5\n" * 20
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode("cp1252"))
    with pytest.warns(TableWarning, match=r"a.csv: it is not UTF-8 text \(byte 0xf6\) and is read"):
        assert open_table(path).names == ("größe", "preis")
    with warnings.catch_warnings():  # said by the user, so that nothing is assumed
        warnings.simplefilter("error")
        assert open_table(path, encoding="latin-1").names == ("größe", "preis")
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"):
        path.write_bytes(text.encode(encoding))
        assert open_table(path).names == ("größe", "preis")
    path.write_bytes(text.encode("cp1251", errors="replace"))
    with pytest.raises(TableError, match=r"`encoding` must be one that Python knows, .* 'cp99'"):
        open_table(path, encoding="cp99")


IN_CYRILLIC = "жизнь,дни\n" + "дюйм,1\nцинк,2\nлинн,4\n" * 10
IN_CHINESE = "城市,价格\n" + "北京,1\n上海,2\n广州,4\n" * 10


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("cp1251", IN_CYRILLIC), ("gbk", IN_CHINESE), ("utf-16-le", IN_CYRILLIC)],
)
def test_the_encoding_of_the_fit_is_expected_of_later_files(tmp_path, encoding, text):
    paths = {name: tmp_path / f"{name}.csv" for name in (encoding, "utf-8", "utf-8-sig", "utf-16")}
    for name, path in paths.items():
        path.write_bytes(text.encode(name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        target = text.splitlines()[0].split(",")[1]
        fit_table(paths[encoding], target, encoding=encoding, n_nodes=2).save(tmp_path / "m")
        model = load(tmp_path / "m")
        wanted = model.predict(paths[encoding])
        assert len(set(wanted)) == 3
        for path in paths.values():  # also of files in another, which tell it
            np.testing.assert_array_equal(model.predict(path), wanted)
            assert open_like(model, path, encoding=path.stem).names[1] == target
            assert open_like(model, [path, path]).names[1] == target


def test_an_encoding_that_is_expected_in_vain(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("größe,preis\n1,2\n".encode("cp1252"))
    with pytest.warns(TableWarning, match="is read as Windows-1252"):
        assert open_table(path, expected_encoding="utf-16").names[0] == "größe"
    with pytest.raises(TableError, match="`encoding` must be one that Python knows"):
        open_table({"x": [1.0]}, expected_encoding="cp99")  # of a forged model


@pytest.mark.parametrize("n_rows", [10, 20_000])
def test_letters_late_in_a_file_decide(tmp_path, n_rows):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n" + b"1,2\n" * n_rows + "3,é\n".encode("latin-1"))
    with pytest.warns(TableWarning, match="Windows-1252"):
        table = open_table(path)
    *_, last = table.blocks(["y"])
    assert last["y"][-1] == "é"


# What is noticed


def noticed(table, **options):
    return fit_table(table, "y", n_nodes=2, **options).about["noticed"]


def test_constants_keys_and_targets_of_two_numbers_are_noticed():
    n, rng = 30, np.random.default_rng(0)
    x, y = rng.uniform(size=n), rng.uniform(size=n)
    assert noticed({"x": x, "y": y}) == []
    (line,) = noticed({"x": x, "c": [5] * n, "y": y})
    assert line == "the table: 'c' is '5' in every row: left out; `use='c'` keeps it"
    (line,) = noticed({"x": x, "a": [5] * n, "b": ["k"] * n, "y": y})
    assert "'a', 'b' are the same in every row" in line
    (line,) = noticed({"x": x, "row": np.arange(n), "y": y})
    assert line.endswith("'row' counts the rows: left out; `use='row'` keeps it")
    assert noticed({"x": x, "row": np.arange(n), "y": y}, use="row") == []
    assert noticed({"x": x, "day": np.arange(n), "y": y}) == []  # a time goes on
    (line,) = noticed({"x": x, "house_id": 4000 + 7 * rng.permutation(n), "y": y})
    assert "'house_id' is a key, different in every row: left out; `use='house_id'`" in line
    (line,) = noticed({"x": x, "house_id": [f"H{i}" for i in range(n)], "y": y})
    assert "'house_id' is a key" in line
    (line,) = noticed({"x": x, "rownames": 4000 + 7 * rng.permutation(n), "y": y})
    assert "'rownames' is a key" in line
    (line,) = noticed({"x": x, "e": [None] * n, "y": y})
    assert "'e' is empty: left out" in line
    assert noticed({"x": x, "humid": 4000 + 7 * rng.permutation(n), "y": y}) == []
    assert noticed({"x": x, "year": 1990 + np.arange(n), "y": y}) == []
    (line,) = noticed({"x": x, "day": 20240101 + np.arange(n), "y": y})
    assert "'day' looks like dates, such as 20240101" in line
    (line,) = noticed({"x": x, "y": (y > 0.5).astype(int)})
    assert "the target 'y' holds only 0 and 1, and is fitted as a number" in line
    assert noticed({"x": x, "y": (y > 0.5).astype(int)}, classes=True) == []


# Files as they come


def twin(name, **how):
    """The columns of a messy file by other means: `how` says how to read each."""
    encoding, separator = ("cp1252", ";") if name == "beton.csv" else ("utf-8", ",")
    with open(MESSY / name, encoding=encoding, newline="") as file:
        rows = list(csv.DictReader(file, delimiter=separator))
    return {column: [how.get(column, float)(row[column]) for row in rows] for column in rows[0]}


def german(cell):
    return float(cell.rstrip(" €%").replace(".", "").replace(",", "."))


def beton():
    numbers = ("Zement (€/Charge)", "Wasser", "Körnung", "Zusatz", "Alter", "Festigkeit")
    how = dict.fromkeys(numbers, german)
    how["Lieferung"] = lambda cell: datetime.strptime(cell, "%d.%m.%Y")
    how["Mischzeit"] = lambda cell: datetime.strptime(cell, "%H:%M:%S") - datetime(1900, 1, 1)
    return twin("beton.csv", Werk=str, **how)


def plant():
    def american(cell):
        return float(cell.strip("$%").replace(",", ""))

    how = dict.fromkeys(("pressure", "humidity", "revenue"), american)
    how["when"] = lambda cell: datetime.strptime(cell, "%m/%d/%Y %I:%M %p")
    return twin("plant.csv", plant=str, **how)


@pytest.mark.parametrize(
    ("name", "clean", "target", "options"),
    [
        ("beton.csv", beton, "Festigkeit", {"decimal": ","}),
        ("plant.csv", plant, "revenue", {}),
    ],
)
def test_a_messy_file_gives_the_model_of_a_clean_one(name, clean, target, options):
    model = quiet(MESSY / name, target, n_nodes=4, **options)
    wanted = quiet(clean(), target, n_nodes=4)
    found = quiet_predictions(model, MESSY / name)
    np.testing.assert_allclose(found, wanted.predict(clean()), rtol=1e-9)
    assert model.columns.features == wanted.columns.features
    assert {type(column.kind) for column in model.columns.inputs} >= {Numbers, Dates}


def quiet_predictions(model, source):
    with warnings.catch_warnings(action="ignore", category=TableWarning):
        return model.predict(source)


def test_commands_on_messy_files(tmp_path):
    data, model = MESSY / "beton.csv", tmp_path / "m.safetensors"
    fit = ["fit", data, "--target", "Festigkeit", "--nodes", 4, "--out", model]
    run(*fit)  # all commas have one meaning
    said = run(*fit, "--decimal", ",").stderr.splitlines()
    notes = [line for line in said if line.startswith("note: beton.csv: ")]
    for wanted in (
        "is read as Windows-1252",
        "'Lieferung': dates are read as day/month/year, as in '28.02.2021'",
        "'Zusatz': '0,0 %' is read as a number of per cent",
        "'Mischzeit': '1:47:15' is read as a duration",
        "'Körnung': '1.061,7' is read as 1061.7",
        "'Nr' counts the rows: left out; --use 'Nr' keeps it",
    ):
        assert sum(wanted in note for note in notes) == 1
    text = run("info", model).stdout
    assert "Lieferung: a date from 2019-01-0" in text
    assert "year, position in the year, position in the week" in text
    assert "Mischzeit: a duration, in hours" in text
    assert "assumed     column 'Zusatz'" in text
    predicted = run("predict", model, data, "--out", tmp_path / "p.csv")
    assert "150 rows" in predicted.stdout
    assert "Windows-1252" not in predicted.stderr  # as in the fit, where it was said
    assert "150 rows" in run("evaluate", model, data).stdout


def test_orders_are_told_on_the_command_line(tmp_path):
    data, model = tmp_path / "a.csv", tmp_path / "m.safetensors"
    rows = [f"0{1 + i % 9}/0{1 + i // 9}/2024,{i}" for i in range(60)]
    data.write_text("\n".join(["when,y", *rows]), encoding="utf-8")
    fit = ["fit", data, "--target", "y", "--nodes", 2, "--out", model]
    told = run(*fit, code=2).stderr
    assert "write --dates dmy if the day comes first, --dates mdy if the month does, or" in told
    run(*fit, "--dates", "dmy")
    assert (
        "a date from 2024-01-01 to 2024-07-06, written day/month/year" in run("info", model).stdout
    )
    (tmp_path / "new.csv").write_text("when\n31/12/2024\n", encoding="utf-8")
    run("predict", model, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    (tmp_path / "new.csv").write_text("when\n12/31/2024\n", encoding="utf-8")
    told = run("predict", model, tmp_path / "new.csv", "--out", tmp_path / "p.csv", code=2).stderr
    assert "'when' must hold dates (day/month/year), as in training, but holds '12/31/2024'" in told


def test_report_on_a_messy_file(tmp_path):
    model = quiet(MESSY / "plant.csv", "revenue", n_nodes=4)
    page = tmp_path / "r.html"
    write_report(model, page, MESSY / "plant.csv")
    effects = {effect["name"]: effect for effect in contents(page)["effects"]}
    assert effects["when: hour"]["levels"] == [str(hour) for hour in range(24)]
    assert effects["when: weekday"]["levels"] == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert len(effects["when: month"]["levels"]) == 12
    assert min(effects["when: year"]["x"]) > 2005
    cells = ast.literal_eval(_cells(model.columns.inputs))
    assert cells["humidity"][0].endswith(" %")
    assert np.isfinite(model.predict(cells)).all()


def test_a_score_reads_the_marks_of_the_fit(tmp_path):
    """As `predict` does: without them, `1,5` would be refused."""
    rows = [(f"{i},5", f"{2 * i},25") for i in range(12)]
    path = tmp_path / "commas.csv"
    path.write_text("x;y\n" + "\n".join(";".join(row) for row in rows))
    model = fit_table(path, "y", decimal=",")
    assert model.score(path) == pytest.approx(1.0)
