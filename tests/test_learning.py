"""Learning curves: the same test for all sizes, the errors of `fit_table`, and a verdict."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from extras import need
from greedynet import LearningCurve, fit_table, learning_curve
from greedynet.cli import main
from greedynet.tables.hold_out import HoldOut
from greedynet.tables.readers import TableError

pytestmark = pytest.mark.slow


def table(n=240, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return {"x": x, "z": rng.normal(size=n), "y": x + noise * rng.normal(size=n)}


def rows_of(columns, rows):
    return {name: np.asarray(cells)[rows] for name, cells in columns.items()}


def curve(held_out, training=None):
    held_out = np.array(held_out)
    training = held_out / 2 if training is None else np.array(training)
    sizes = np.array([100, 200, 400])[-held_out.shape[1] :]
    return LearningCurve(sizes, held_out, training, "rmse")


def test_errors_are_those_of_fits_to_parts_of_the_rows():
    columns = table()
    found = learning_curve(columns, "y", repeats=2, n_nodes=2)
    assert found.sizes.tolist() == [24, 48, 96, 192]
    for repeat in (0, 1):
        mask = HoldOut(0.2).mask(columns["y"], None, repeat, classes=False)
        order = np.random.default_rng(repeat).permutation(np.flatnonzero(~mask))
        held = rows_of(columns, mask)
        for k, size in enumerate(found.sizes):
            part = rows_of(columns, order[:size])
            model = fit_table(part, "y", n_nodes=2)
            error = np.sqrt(np.mean((model.predict(held) - held["y"]) ** 2))
            assert found.held_out[repeat, k] == pytest.approx(error)
            assert found.training[repeat, k] == pytest.approx(model.about["training"]["rmse"])


def test_groups_are_held_out_whole():
    columns = table() | {"g": [f"g{i % 12}" for i in range(240)]}
    found = learning_curve(columns, "y", repeats=1, n_nodes=2, groups="g")
    mask = HoldOut(0.2, by="g").mask(columns["y"], np.array(columns["g"]), 0, classes=False)
    model = fit_table(rows_of(columns, ~mask), "y", n_nodes=2, ignore="g")
    held = rows_of(columns, mask)
    error = np.sqrt(np.mean((model.predict(held) - held["y"]) ** 2))
    assert found.held_out[0, -1] == pytest.approx(error)


def test_every_part_has_every_class():
    columns = table(400)
    columns["y"] = np.where(np.arange(400) < 4, "rare", np.where(columns["x"] > 0, "a", "b"))
    found = learning_curve(columns, "y", repeats=2, n_nodes=3)
    assert found.measure == "log_loss"
    assert np.isfinite(found.held_out).all()


def test_empty_targets_are_left_to_the_fit():
    columns = table()
    columns["y"] = [""] * 3 + [str(value) for value in columns["y"][3:]]
    found = learning_curve(columns, "y", repeats=1, n_nodes=2, missing="drop")
    assert found.measure == "rmse"


@pytest.mark.parametrize(
    ("held_out", "verdict"),
    [
        (
            [[3.0, 2.0], [3.1, 2.1], [2.9, 2.0]],
            "fell by 32.2 %, from 3 to 2.03: more rows would probably help",
        ),
        ([[3.0, 2.99], [3.1, 3.1], [2.9, 2.91]], "more rows may hardly help"),
        # The next doubling brings less than the last.
        ([[3.0, 2.88], [3.1, 2.98], [2.9, 2.78]], "fell by 4.0 %, from 3 to 2.88: more rows may"),
        ([[3.0, 2.88], [3.1, 2.98], [2.9, 2.78]], "hardly help"),
        ([[3.0, 2.8], [3.1, 2.9], [2.9, 2.7]], "from 3 to 2.8: more rows would probably help."),
        ([[3.0, 2.0], [3.1, 3.2], [2.9, 3.0]], "which may be chance: more repeats would tell"),
        ([[3.0, 2.0]], "which may be chance"),
        ([[2.0, 3.0], [2.0, 3.1]], "rose by 52.5 %"),
    ],
)
def test_verdict(held_out, verdict):
    said = curve(held_out).sentence()
    assert said.startswith("From 200 to 400 rows the RMSE on held-out rows ")
    assert verdict in said


def test_rows_that_teach_and_rows_that_do_not():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 320)
    wave = {"x": x, "y": np.sin(12 * x)}
    assert learning_curve(wave, "y", n_nodes=16).is_clear
    assert not learning_curve(table(320), "y", n_nodes=2).is_clear


@pytest.mark.parametrize(
    ("columns", "options", "match"),
    [
        (
            table(40),
            {},
            "has 32 rows beside those held out, and a learning curve needs at",
        ),
        (table(), {"repeats": 0}, "`repeats` must be at least 1, got 0: write 3"),
        (table(), {"groups": "w"}, "has no column 'w'"),
    ],
)
def test_curves_that_cannot_be(columns, options, match):
    with pytest.raises(TableError, match=match):
        learning_curve(columns, "y", **options)


def test_command(tmp_path):
    need("matplotlib")
    columns, data, plot = table(), tmp_path / "d.csv", tmp_path / "curve.png"
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]  # noqa: B905
    data.write_text("\n".join(lines), encoding="utf-8")
    call = ["learning-curve", str(data), "--target", "y", "--repeats", "2", "--max-nodes", "4"]
    done = CliRunner().invoke(main, [*call, "--plot", str(plot)], catch_exceptions=False)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].split() == [
        "rows",
        *["RMSE,", "held", "out", "RMSE,", "training"],
    ]
    assert "From 96 to 192 rows the RMSE on held-out rows" in done.stdout
    assert plot.stat().st_size > 1000
    plain = json.loads(CliRunner().invoke(main, [*call, "--json"]).stdout)
    assert plain["rows"] == [24, 48, 96, 192]
    assert np.shape(plain["held_out"]) == (2, 4)
    assert plain["would_help"] in (True, False)


def test_display_draws_the_means():
    need("matplotlib")
    from greedynet.plots import draw_learning_curve

    shown = draw_learning_curve(curve([[4.0, 3.0, 2.0], [4.0, 3.2, 2.4]]))
    assert shown.lines_[0].get_xdata().tolist() == [100, 200, 400]
    np.testing.assert_allclose(shown.lines_[1].get_ydata(), [4.0, 3.1, 2.2])
    np.testing.assert_allclose(shown.lines_[0].get_ydata(), [2.0, 1.55, 1.1])
    assert shown.ax_.get_ylabel() == "RMSE"
