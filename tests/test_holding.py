"""Rows that are set aside: which they are, that no fit sees them, that reports show them."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

from greedynet import fit_table, load, write_report
from greedynet.cli import main
from greedynet.tables.hold_out import HoldOut, held_out_mask, held_out_record
from greedynet.tables.readers import TableError
from reports import contents, unpacked

N = 200


def table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = 10 + np.abs(X[:, 0]) + 0.2 * rng.normal(size=n)
    groups = [f"g{i % 17}" for i in range(n)]
    return {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "group": groups, "y": y}


def without(columns, *names):
    return {name: cells for name, cells in columns.items() if name not in names}


def rows_of(columns, mask):
    return {name: np.asarray(cells)[mask].tolist() for name, cells in columns.items()}


# Which rows


@pytest.mark.parametrize("n", [5, 50, 1001])
def test_random_rows_are_as_many_as_asked_for(n):
    y = np.arange(float(n))
    mask = HoldOut(0.2).mask(y, None, 0, classes=False)
    assert abs(mask.sum() - 0.2 * n) <= 0.5
    assert mask.tolist() == HoldOut(0.2).mask(y, None, 0, classes=False).tolist()
    if n > 5:
        assert mask.tolist() != HoldOut(0.2).mask(y, None, 1, classes=False).tolist()


def test_classes_keep_their_proportions_and_are_never_all_set_aside():
    y = np.array(["a"] * 70 + ["b"] * 29 + ["c"])
    for seed in range(10):
        mask = HoldOut(0.5).mask(y, None, seed, classes=True)
        assert abs(np.sum(y[mask] == "a") - 35) <= 1
        assert set(y[~mask]) == {"a", "b", "c"}


def test_groups_stay_whole():
    groups = np.repeat(np.array(["x", "y", "z", "u", "v"], dtype=object), [10, 20, 30, 20, 20])
    for seed in range(10):
        mask = HoldOut(0.3, by="g").mask(np.zeros(100), groups, seed, classes=False)
        assert not set(groups[mask]) & set(groups[~mask])
        assert 10 <= mask.sum() <= 60


def test_the_last_rows_are_the_last():
    mask = HoldOut(0.25, last=True).mask(np.zeros(40), None, 0, classes=False)
    assert mask.tolist() == [False] * 30 + [True] * 10


def test_rows_are_found_again_and_others_are_not():
    y = np.random.default_rng(0).normal(size=33)
    mask = HoldOut(0.2).mask(y, None, 0, classes=False)
    record = held_out_record(HoldOut(0.2), mask, y)
    assert held_out_mask(record, y).tolist() == mask.tolist()
    assert held_out_mask(record, y + 1) is None
    assert held_out_mask(record, y[:-1]) is None
    assert held_out_mask(None, y) is None


# The fit


def test_the_fit_does_not_see_them():
    columns = without(table(), "group")
    model = fit_table(columns, "y", max_nodes=6, hold_out_last=0.2)
    seen = rows_of(columns, np.arange(N) < 160)
    alone = fit_table(seen, "y", max_nodes=6)
    np.testing.assert_array_equal(model.predict(columns), alone.predict(columns))
    assert model.columns.means.tolist() == alone.columns.means.tolist()
    held = rows_of(columns, np.arange(N) >= 160)
    errors = np.array(held["y"]) - alone.predict(without(held, "y"))
    about = model.about["held_out"]
    assert (about["rows"], model.about["rows"]) == (40, 160)
    assert about["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    off = np.array(held["y"]) - np.mean(seen["y"])
    assert about["constant"] == pytest.approx(np.sqrt(np.mean(off**2)))


def test_groups_are_no_input_and_choose_the_folds():
    columns = table()
    model = fit_table(columns, "y", max_nodes=6, hold_out=0.2, groups="group")
    assert model.columns.names == ("a", "b", "c")
    groups = np.array(columns["group"])
    mask = held_out_mask(model.about["held_out"], np.array(columns["y"]))
    seen, kept = rows_of(columns, ~mask), without(rows_of(columns, ~mask), "group", "y")
    X = np.column_stack(list(kept.values()))
    alone = type(model.estimator)(max_nodes=6).fit(X, seen["y"], groups=groups[~mask])
    assert model.estimator.expected_error_ == alone.expected_error_


def test_classes_are_told_by_their_accuracy(tmp_path):
    columns = without(table(), "group")
    columns["y"] = np.where(columns["y"] > 10.6, "high", "low")
    model = fit_table(columns, "y", max_nodes=5, hold_out=0.25)
    first = model.summary().splitlines()[0]
    assert re.match(r"On the 50 rows held out \(chosen at random\), [\d.]+ % of the classes", first)
    model.save(tmp_path / "m.safetensors")
    assert load(tmp_path / "m.safetensors").summary() == model.summary()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"hold_out": 1.0}, r"`hold_out` must be a share .* got 1.0: write 0.2"),
        ({"hold_out_last": 0}, r"`hold_out_last` must be a share"),
        ({"hold_out": 0.2, "hold_out_last": 0.2}, "without `hold_out`, got both"),
        ({"hold_out": 0.2, "groups": "grop"}, "did you mean 'group'"),
        ({"hold_out": 0.2, "groups": "y"}, "another column than the target, got 'y'"),
        ({"hold_out": 0.2, "groups": "same"}, "two groups, but 'same' is 'x' in every row"),
        ({"hold_out": 0.001}, "Of 200 rows, 0 would be held out and 200 left"),
    ],
)
def test_what_cannot_be_held_out(options, match):
    with pytest.raises(TableError, match=match):
        fit_table({**table(), "same": ["x"] * N}, "y", ignore="group", **options)


def test_a_class_that_only_the_last_rows_have():
    columns = without(table(), "group")
    columns["y"] = ["a", "b"] * 95 + ["c"] * 10
    with pytest.raises(TableError, match="the class 'c', which no other row has"):
        fit_table(columns, "y", hold_out_last=0.1)


# The command and the report


def command(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)), catch_exceptions=False)


def write_csv(path, columns):
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]  # noqa: B905
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_held_out_rows_drive_the_report(tmp_path):
    data = write_csv(tmp_path / "d.csv", without(table(), "group"))
    model, page = tmp_path / "m.safetensors", tmp_path / "r.html"
    done = command(
        *("fit", data, "--target", "y", "--out", model, "--report", page),
        *("--hold-out", 0.2, "--max-nodes", 6),
    )
    assert done.exit_code == 0
    assert done.stdout.startswith("On the 40 rows held out (chosen at random), it is off by ")
    assert "held out: RMSE" in done.stdout
    assert "greedynet evaluate" not in done.stdout
    text, drawn = page.read_text(encoding="utf-8"), contents(page)
    assert re.search(r"Summary</h2>\s*<p>On the 40 rows held out", text)
    assert drawn["rows"] == {"all": 40, "shown": 40, "label": "held-out rows"}
    assert drawn["other"]["rows"] == {"all": 160, "shown": 160, "label": "training rows"}
    y = np.array(table()["y"])
    mask = held_out_mask(load(model).about["held_out"], y)
    np.testing.assert_allclose(drawn["picture"]["actual"], y[mask], rtol=1e-4)
    np.testing.assert_allclose(drawn["other"]["picture"]["actual"], y[~mask], rtol=1e-4)
    assert len(drawn["errors"]["residual"]) == 40
    assert len(drawn["other"]["errors"]["residual"]) == 160
    assert drawn["importance"] != drawn["other"]["importance"]
    kept = unpacked(drawn["picture"]["values"])[drawn["growth"]["kept"]]
    found = kept - drawn["picture"]["actual"]
    assert np.sqrt(np.mean(found**2)) == pytest.approx(load(model).about["held_out"]["rmse"], 1e-2)
    # The same from the model file, in which the rows are known.
    command("report", model, data, "--out", tmp_path / "again.html")
    assert contents(tmp_path / "again.html") == drawn


def test_held_out_file_of_the_report_command(tmp_path):
    data = write_csv(tmp_path / "d.csv", without(table(), "group"))
    other = write_csv(tmp_path / "o.csv", without(table(50, seed=1), "group"))
    model = tmp_path / "m.safetensors"
    command("fit", data, "--target", "y", "--out", model, "--max-nodes", 6)
    command("report", model, data, "--held-out", other, "--out", tmp_path / "r.html")
    drawn = contents(tmp_path / "r.html")
    assert (drawn["rows"]["all"], drawn["other"]["rows"]["all"]) == (50, 200)
    command("report", model, "--held-out", other, "--out", tmp_path / "alone.html")
    drawn = contents(tmp_path / "alone.html")
    assert (drawn["rows"]["all"], drawn["other"]) == (50, None)


def test_confusion_and_calibration_are_of_the_held_out_rows(tmp_path):
    columns = table()
    columns["y"] = np.where(np.array(columns["y"]) > 10.6, "high", "low")
    model = fit_table(columns, "y", max_nodes=5, hold_out=0.2, groups="group")
    write_report(model, tmp_path / "r.html", columns)
    drawn, n = contents(tmp_path / "r.html"), model.about["held_out"]["rows"]
    assert np.sum(drawn["errors"]["counts"]) == n
    assert sum(group["rows"] for group in drawn["errors"]["calibration"]) == n
    assert np.sum(drawn["other"]["errors"]["counts"]) == N - n


def test_options_in_error_messages(tmp_path):
    data = write_csv(tmp_path / "d.csv", table())
    done = command("fit", data, "--target", "y", "--out", tmp_path / "m", "--hold-out", 2)
    assert done.exit_code == 2
    assert "--hold-out must be a share of the rows between 0 and 1, got 2.0" in done.stderr
