"""The report's numbers, words and safety, without a browser; with one, see `test_browser.py`."""

import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import greedynet
from deep_networks import bent_columns
from extras import need
from greedynet import (
    GreedyNetClassifier,
    GreedyNetRegressor,
    Network,
    fit_table,
    write_report,
)
from greedynet.activations import ACTIVATIONS
from greedynet.cli.demo_data import NOISE, daylight_hours, daylight_path
from greedynet.model.description import column_curves
from greedynet.report.growth import MOST_STOPS, some_widths
from greedynet.report.neurons import MOST_NEURONS, MOST_WEIGHTS, neurons_section
from greedynet.report.page import embedded, limits, packed, rounded
from greedynet.report.sections import calibration, importances
from greedynet.report.subject import ShownClasses, Subject, SubjectRows, as_columns
from greedynet.report.summary import code_blocks, paragraphs, score_table, suggestions
from greedynet.report.write import known_scores
from greedynet.search import Dictionary
from greedynet.support.phrases import percent
from problems import noisy
from program import run
from reports import CASES, case, contents, unpacked


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    return {name: case(name).write(folder / f"{name}.html") for name in CASES}


@pytest.fixture
def shown(tmp_path):
    """Write the report of a model, and return its data and its text."""

    def show(model, *rows, **options):
        page = tmp_path / "report.html"
        write_report(model, page, *rows, **options)
        return contents(page), page.read_text(encoding="utf-8")

    return show


def subject_of(name, y=None):
    """Return what a page is about, for a case, and the case."""
    known = case(name)
    rows = SubjectRows(known.X, known.y if y is None else y, "rows")
    return Subject(as_columns(known.model), "y", rows), known


# What every page holds


class Reader(HTMLParser):
    """The start tags of a page, and the text of its elements."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("name", CASES)
def test_page_stands_alone_and_is_small(pages, name):
    text = pages[name].read_text(encoding="utf-8")
    assert len(text) < 1_500_000
    page = Reader(text)
    for tag, attributes in page.tags:
        assert not {"src", "srcset", "action", "style", "onclick"} & set(attributes)
        if "href" in attributes:
            assert attributes["href"].startswith(("#", "data:"))
        assert tag not in ("iframe", "object", "embed", "img")
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}]
    assert "default-src 'none'" in text


@pytest.mark.parametrize("text", ["</script>", "<!--", "\u2028\u2029", "&lt;", '"\\', "\x00é"])
def test_embedded_data_cannot_end_their_element(text):
    found = embedded({text: text})
    assert not re.search(r"[<>&\u2028\u2029]", found)
    assert json.loads(found) == {text: text}


def test_words_say_what_was_fitted_and_how_good_it_is(pages):
    text = html.unescape(pages["many"].read_text(encoding="utf-8"))
    model = case("many").model
    assert "(a number) from 10 columns, 1 of them text: " in text
    assert ". It was fitted to 200 rows of the table.</p>" in text
    assert f"{model.about['training']['rmse']:.3g}" in text
    assert f"The network has {model.network.n_nodes} nodes" in text
    assert "Pass them with: greedynet report model.safetensors data.csv" not in text
    bare = pages["without rows"].read_text(encoding="utf-8")
    assert "Pass them with: greedynet report model.safetensors data.csv" in bare
    data = contents(pages["without rows"])
    assert [name for name in ("picture", "effects", "importance", "errors") if data[name]] == []
    assert data["neurons"]["rows"]


def test_errors_are_in_the_table_and_not_in_the_text():
    subject = Subject(as_columns(case("one").model), "y")
    scores = {"rows": {"mae": 0.123456, "rmse": 0.234567, "r2": None}}
    assert score_table(scores) == [["", "MAE", "RMSE", "R2"], ["rows", "0.1235", "0.2346", ""]]
    without = "No rows were given, so its accuracy is not known."
    assert without not in paragraphs(subject, scores)
    assert without in paragraphs(subject, {})


def tried(training, held_out):
    """Return what is suggested for a model with these errors."""
    subject, _ = subject_of("one")
    subject = replace(subject, held_out=subject.rows)
    scores = {"training rows": training, "held-out rows": held_out}
    return " ".join(suggestions(subject, scores, "m.safetensors"))


@pytest.mark.parametrize("name", ["rmse", "log_loss"])
def test_a_gap_between_training_and_held_out_rows_is_told(name):
    assert "2.3 times" in tried({name: 0.2}, {name: 0.46})
    assert " times " not in tried({name: 0.2}, {name: 0.3})
    assert " times " not in tried({name: 0.46}, {name: 0.2})
    assert " times " not in tried({name: 0.0}, {name: 0.2})


def test_the_first_sentence_is_on_new_rows(pages):
    for name in ("one", "many", "classes", "without rows"):
        text = html.unescape(pages[name].read_text(encoding="utf-8"))
        first = re.search(r"<h2 id=\"summary-title\">Summary</h2>\s*<p>(.*?)</p>", text)
        assert first is not None
        assert first.group(1) == as_columns(case(name).model).expectation.sentence()
        assert first.group(1).startswith("On new rows expect ")


@pytest.mark.all_folds
def test_a_straight_line_is_called_a_straight_line(shown):
    x = np.linspace(0, 1, 300)
    table = {"x": x, "y": 3 * x + np.random.default_rng(2).normal(size=300)}
    model = fit_table(table, "y")
    _, text = shown(model, table)
    assert "It is a straight line, without neurons, with 2 weights. No network predicted" in text
    assert "0 relu" not in text
    assert "network: a straight line, without neurons (2 nodes)" in model.summary()


def test_much_that_is_unexplained_is_told():
    for r2 in ((0.49, 0.9), (0.9, 0.49)):
        assert "unexplained" in tried(*({"rmse": 1.0, "r2": share} for share in r2))
    for r2 in ((0.5, 0.5), (None, 0.9)):
        assert "unexplained" not in tried(*({"rmse": 1.0, "r2": share} for share in r2))


# Its numbers


def test_the_kept_stop_is_the_network(pages):
    for name in ("one", "two", "many"):
        known, data = case(name), contents(pages[name])
        network = as_columns(known.model).network
        values = unpacked(data["picture"]["values"])
        growth = data["growth"]
        assert len(values) == len(growth["stops"])
        kept = growth["kept"]
        assert growth["nodes"][growth["stops"][kept]] == network.n_nodes
        if name == "one":
            rows = np.linspace(*data["picture"]["x"], values.shape[1])[:, None]
        elif name == "two":
            n = data["picture"]["points"]
            middles = [
                low + (high - low) * (np.arange(n) + 0.5) / n for low, high in data["picture"]["x"]
            ]
            rows = np.column_stack([part.ravel() for part in np.meshgrid(*middles)])
        else:
            rows = known.X
        packing = data["picture"]["values"]
        wanted = np.clip(network.predict(rows), packing["low"], packing["high"])
        step = (packing["high"] - packing["low"]) / (2 ** packing["bits"] - 1)
        np.testing.assert_allclose(values[kept], wanted, atol=0.6 * step + 1e-6)
        rmse = np.sqrt(np.mean((network.predict(known.X) - known.y) ** 2))
        assert data["rowScores"]["values"][kept] == pytest.approx(rmse, rel=1e-4)


def test_long_paths_have_some_of_their_widths():
    X, y = noisy(200, 2)
    how = {"search": Dictionary(n_points=400), "select": "last"}
    short, long = (GreedyNetRegressor(max_nodes=n, **how).fit(X, y).path_ for n in (20, 120))
    assert some_widths(short) == list(range(len(short)))
    for n_nodes in (3, 60, 75, int(long.n_nodes[-1])):
        widths = some_widths(replace(long, best_n_nodes=n_nodes))
        assert MOST_STOPS - 1 <= len(widths) <= MOST_STOPS
        assert widths[: MOST_STOPS // 2] == list(range(MOST_STOPS // 2))
        assert widths[-1] == len(long) - 1
        assert long.position(n_nodes) in widths
        assert sorted(set(widths)) == widths


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("many", [*([j] for j in range(9)), [9, 10, 11]]),
        ("two layers", [[0], [1], [2, 3]]),
        ("classes", [[0], [1], [2], [3]]),
    ],
)
def test_columns_are_shuffled_one_by_one_and_categories_whole(name, columns):
    y = case(name).y
    if name != "classes":
        y = y + np.random.default_rng(1).normal(size=len(y))
    subject, known = subject_of(name, y)
    found, rng = importances(subject), np.random.default_rng(0)
    orders = [rng.permutation(len(y)) for _ in range(found.shape[1])]

    def error(X):
        if name == "classes":
            likely = known.model.predict_proba(X)[y[:, None] == known.model.classes_]
            return -np.mean(np.log(likely))
        return np.sqrt(np.mean((subject.network.predict(X) - y) ** 2))

    for features, worsenings in zip(columns, found, strict=True):
        for order, worse in zip(orders, worsenings, strict=True):
            shuffled = known.X.copy()
            shuffled[:, features] = known.X[order][:, features]
            assert worse == pytest.approx(error(shuffled) - error(known.X), abs=1e-9)


def test_accuracy_at_every_stop(pages):
    known, found = case("classes"), contents(pages["classes"])["rowScores"]
    path, classes = known.model.path_, known.model.classes_
    grown = [path.network_at(width).predict(known.X) for width in path.n_nodes.tolist()]
    wanted = [np.mean(classes[logits.argmax(axis=1)] == known.y) for logits in grown]
    assert found["name"] == "accuracy"
    np.testing.assert_allclose(found["values"], wanted, rtol=1e-4)


def test_map_of_classes_tells_how_sure_the_network_is(pages):
    known, found = case("two inputs, classes"), contents(pages["two inputs, classes"])
    data, kept = found["picture"], found["growth"]["kept"]
    middles = [low + (high - low) * (np.arange(60) + 0.5) / 60 for low, high in data["x"]]
    p = known.model.predict_proba(np.column_stack([m.ravel() for m in np.meshgrid(*middles)]))
    classes, levels = np.divmod(unpacked(data["values"])[kept], 16)
    apart = np.abs(p[:, 1] - p[:, 0])  # from 0, a tie, to 1
    assert np.mean(classes == p.argmax(axis=1)) > 0.999
    np.testing.assert_array_less(np.abs(levels + 0.5 - 16 * apart), 0.5 + 1e-3)


def test_neurons_by_name_kink_and_active_share(pages):
    known, data = case("one"), contents(pages["one"])
    network, table = known.model.network_, data["neurons"]
    assert table["names"] == ["neuron", "outer weight", "kink", "active %", "x1"]
    for number, outer, kink, active, weight in table["rows"]:
        n = int(number) - 1
        a, b = network.inner_weights[n, 0], network.biases[n]
        assert weight == pytest.approx(a, rel=1e-3)
        assert outer == pytest.approx(network.outer_weights[n, 0], rel=1e-3)
        assert kink == pytest.approx(-b / a, rel=1e-3)
        assert active == pytest.approx(100 * np.mean(a * known.X[:, 0] + b > 0), rel=1e-3)


def test_largest_neurons_and_weights_are_listed():
    rng = np.random.default_rng(0)
    n_neurons, n_features = MOST_NEURONS + 20, MOST_WEIGHTS + 5
    inner = rng.choice([-1.0, 1.0], (n_neurons, n_features))
    small = [0, 7, 20, 21, 44]
    inner[:, small] *= 0.01
    outer = rng.permutation(np.arange(1.0, n_neurons + 1))
    network = Network(inner, np.zeros(n_neurons), outer[:, None])
    found = neurons_section(Subject(as_columns(network), "y"))
    assert (found["left"], found["weightsLeft"]) == (20, 5)
    assert found["names"][found["firstWeight"] :] == [
        f"x{j + 1}" for j in range(n_features) if j not in small
    ]
    assert [row[1] for row in found["rows"]] == list(range(n_neurons, 20, -1))
    assert [outer[int(row[0]) - 1] for row in found["rows"]] == [row[1] for row in found["rows"]]


def test_classes_are_counted_and_calibrated(pages):
    known, data = case("classes"), contents(pages["classes"])
    named, classes = known.model.predict(known.X), known.model.classes_
    assert np.any(named != known.y)
    wanted = [[np.sum((known.y == a) & (named == b)) for b in classes] for a in classes]
    assert data["errors"]["counts"] == wanted
    groups = calibration(np.array([0.55, 0.52, 1.0]), np.array([True, False, True]))
    assert groups == [
        {"confidence": 0.535, "accuracy": 0.5, "rows": 2},
        {"confidence": 1.0, "accuracy": 1.0, "rows": 1},
    ]
    assert sum(group["rows"] for group in data["errors"]["calibration"]) == len(known.y)


def test_many_classes_are_put_together(shown):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(20), 6)
    X = np.column_stack([y, y % 3, rng.normal(size=len(y))]).astype(float)
    data, _ = shown(GreedyNetClassifier(n_nodes=6).fit(X, y), X, y)
    assert len(data["classes"]) == 12
    assert data["classes"][-1] == "all others"
    assert np.sum(data["errors"]["counts"]) == len(y)
    for effect in data["effects"]:
        np.testing.assert_allclose(unpacked(effect["values"]).sum(axis=-1), 1.0, atol=12 / 255)


def test_the_most_frequent_classes_are_shown():
    sizes = 2 + 5 * np.arange(14) % 14  # smallest for the classes 0, 3 and 6
    y = np.repeat(np.arange(14), sizes)
    X = np.column_stack([y, y % 3]).astype(float)
    model = GreedyNetClassifier(n_nodes=4, alpha=0.1).fit(X, y)
    shown = ShownClasses.of(Subject(as_columns(model), "y", SubjectRows(X, y, "rows")))
    most = [c for c in range(14) if c not in (0, 3, 6)]
    assert shown.names == [*map(str, most), "all others"]
    p = model.predict_proba(X)
    np.testing.assert_allclose(shown.merged(p)[:, :-1], p[:, most])
    np.testing.assert_allclose(shown.merged(p)[:, -1], p[:, [0, 3, 6]].sum(axis=1))


def test_packed_numbers_come_back():
    values = np.random.default_rng(0).uniform(-3, 5, (4, 7))
    for bits in (8, 16):
        found = unpacked(packed(values, -3, 5, bits=bits))
        np.testing.assert_allclose(found, values, atol=4.1 / (2**bits - 1))
    assert unpacked(packed([9.0, -9.0], 0, 1)).tolist() == [1, 0]
    assert unpacked(packed([2.0], 2, 2)).tolist() == [2]
    assert rounded([1.23456789, float("nan"), np.float64(2), 3, "x"], 3) == [1.23, None, 2, 3, "x"]
    assert limits([1, 1]) == (0.5, 1.5)
    assert limits([0.0]) == (-1, 1)


# Which models


@pytest.mark.slow
@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_every_activation(shown, activation):
    X = np.random.default_rng(0).uniform(-1, 1, (80, 2))
    y = X[:, 0] * X[:, 1]
    data, _ = shown(GreedyNetRegressor(n_nodes=6, activation=activation).fit(X, y), X, y)
    assert (data["picture"]["kinks"] is not None) == hasattr(ACTIVATIONS[activation], "degree")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("one", {}),
        ("one", {"loss": "absolute_error"}),
        ("one", {"n_nodes": 2}),
        ("one", {"hidden_layers": 2, "max_nodes": 20}),
        ("classes", {}),
    ],
)
def test_growth_is_that_of_the_fit(shown, tmp_path, name, parameters):
    """Held-out errors are relative to that of the mean, log-losses are not."""
    known, classes = case(name), name == "classes"
    kind = GreedyNetClassifier if classes else GreedyNetRegressor
    model = kind(**({"max_nodes": 8} | parameters)).fit(known.X, known.y)
    model.save(tmp_path / "m.safetensors")
    for one in (model, greedynet.load(tmp_path / "m.safetensors")):
        growth, path = shown(one, known.X, known.y)[0]["growth"], model.path_
        assert growth["nodes"] == path.n_nodes.tolist()
        assert growth["nodes"][growth["kept"]] == model.n_nodes_
        np.testing.assert_allclose(growth["training"], path.training_errors, rtol=1e-4)
        np.testing.assert_allclose(growth["heldOut"], path.held_out_errors, rtol=1e-4)
        unit = 1.0
        if not classes:
            unit = model.ladder_.error_of("mean", form=model.ladder_.choice.form)
        wanted = model.expected_error_ / unit
        assert growth["heldOut"][growth["kept"]] == pytest.approx(wanted, rel=1e-4)
        assert growth["errorName"] == ("log-loss" if classes else "relative error")
        assert growth["text"] == (
            "Error on training rows and on held-out rows at every width that was tried; the dot is "
            "the network that was kept."
        )


def test_networks_alone_constants_and_outputs(shown):
    network = Network(np.ones((1, 1)), np.zeros(1), np.ones((1, 1)))
    data, text = shown(network)
    assert data["growth"] is None
    assert "its file contains the network alone" in text
    shown(network, [[0.0], [0.0]], [1.0, 1.0])  # no range, no variation
    X = case("one").X
    data, _ = shown(GreedyNetRegressor().fit(X, X[:, 0]), X, X[:, 0])
    X = case("two").X
    model = GreedyNetRegressor(n_nodes=5).fit(X, np.column_stack([X[:, 0], np.sin(4 * X[:, 1])]))
    with pytest.raises(ValueError, match="`output` must select one of the 2 outputs"):
        shown(model, X, X)
    data, _ = shown(model, X, X, output=1)
    wanted = model.predict(X)[:, 1]
    assert data["errors"]["found"] == pytest.approx(wanted, rel=1e-3, abs=1e-3)


def test_numbers_whose_squares_overflow(shown):
    X = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    y = np.abs(X[:, 0]) + X[:, 1] ** 2
    pages = []
    for size in (1.0, 1e300):
        model = GreedyNetRegressor(n_nodes=4, random_state=0).fit(X, size * y)
        pages.append(shown(model, X, size * y)[0])
    (small, large) = pages
    for section in ("rowScores", "importance"):
        assert "null" not in json.dumps(large[section])
    wanted = 1e300 * np.array(small["rowScores"]["values"])
    np.testing.assert_allclose(large["rowScores"]["values"], wanted, rtol=1e-3)
    means = [[column["mean"] for column in page["importance"]["columns"]] for page in pages]
    np.testing.assert_allclose(means[1], 1e300 * np.array(means[0]), rtol=1e-3)


@pytest.mark.parametrize(
    ("select", "words"),
    [
        ("best", "weights. More nodes did not predict held-out rows better. For fewer nodes"),
        ("1se", "the smallest whose error on held-out rows is within a standard error of the best"),
        (0.2, "the smallest whose error on held-out rows is within 20.0 % of the best."),
    ],
)
def test_why_the_network_has_its_width(shown, select, words):
    X, y = noisy(150, 1)
    model = GreedyNetRegressor(select=select).fit(X, y)
    assert model.stop_reason_.name == "VALIDATED"
    assert words in shown(model)[1]


def test_report_of_a_truncated_network(shown):
    known = case("one")
    data, text = shown(known.model.truncate(5), known.X, known.y)
    assert data["growth"]["nodes"] == [2, 3, 4, 5]
    assert data["growth"]["kept"] == 3
    errors = known.model.path_.held_out_errors[:4]
    np.testing.assert_allclose(data["growth"]["heldOut"], errors, rtol=1e-4)
    assert "The network has the requested number of nodes." in text
    assert "90 % intervals" in text


def test_errors_of_the_path_are_those_before_further_training(shown):
    need("optax")
    from greedynet.train import train

    known = case("one")
    model = train(GreedyNetRegressor(max_nodes=8).fit(known.X, known.y), known.X, known.y)
    data, text = shown(model, known.X, known.y)
    assert "trained further by backpropagation" in text
    assert data["growth"]["trained"]
    assert "It was trained further afterwards" in data["growth"]["text"]
    rmse = np.sqrt(np.mean((model.predict(known.X) - known.y) ** 2))
    kept = data["growth"]["kept"]
    assert data["rowScores"]["values"][kept] == pytest.approx(rmse, rel=1e-4)


def test_held_out_rows_are_told_apart(shown):
    known = case("one")
    _, text = shown(known.model, known.X, known.y, held_out=(known.X, -known.y))
    error = np.sqrt(np.mean((known.model.predict(known.X) + known.y) ** 2))
    assert f"<td>{error:.4g}</td>" in text


def test_rows_of_the_fit_are_called_training_rows():
    table = {"x": np.arange(20.0), "y": np.sin(np.arange(20.0))}
    model = fit_table(table, "y", n_nodes=4)
    X, y, label = table["x"][:, None], table["y"], model.about["source"]
    for n_rows, name, wanted in (
        (20, label, ["training rows"]),
        (19, label, ["training rows", f"rows of {label}"]),
        (20, "other.csv", ["training rows", "rows of other.csv"]),
    ):
        subject = Subject(model, "y", SubjectRows(X[:n_rows], y[:n_rows], name))
        assert list(known_scores(subject)) == wanted


def test_samples_are_said_to_be_samples(shown):
    X = np.random.default_rng(0).uniform(-1, 1, (3000, 3))
    model = GreedyNetRegressor(n_nodes=4).fit(X, X[:, 0] ** 2)
    data, _ = shown(model, X, X[:, 0])
    assert data["rows"] == {"all": 3000, "shown": 1000, "label": "rows given"}
    assert shown(model, X, X[:, 0])[0] == data


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("one", ([[1.0, 2.0]], [1.0]), "`X` must have 1 columns, one for each input"),
        ("one", ([[1.0]], [1.0, 2.0]), "`X` and `y` must have the same number of rows"),
        ("one", ([[1.0]], [[1.0, 2.0]]), "`y` must have 1 columns, one for each output"),
        ("two inputs, classes", ([[0.0, 0.0]], ["between"]), "`y` must hold the classes"),
    ],
)
def test_rows_that_do_not_fit(tmp_path, name, rows, message):
    with pytest.raises(ValueError, match=message):
        write_report(case(name).model, tmp_path / "report.html", *rows)
    assert list(tmp_path.iterdir()) == []


def test_models_without_names_take_those_of_a_table(shown):
    known = case("two")
    table = {"north": known.X[:, 0], "east": known.X[:, 1], "height": known.y}
    data, text = shown(known.model, table, target="height", held_out=table)
    assert data["picture"]["names"] == ["north", "east"]
    assert data["errors"]["found"] == pytest.approx(known.model.predict(known.X), rel=1e-3)
    assert "held-out rows" in text
    for wrong in ({"X": known.X}, {"held_out": known.X}):
        with pytest.raises(ValueError, match="`y` must be given together with an array"):
            shown(known.model, **wrong)


def test_other_objects_have_no_report(shown):
    with pytest.raises(TypeError, match="`model` must be a TableModel"):
        shown(object())


# The commands


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{x},{'ab'[x % 2]},{abs(x - 20)}" for x in range(40))
    (tmp_path / "data.csv").write_text(f"x,kind,y\n{rows}\n")
    return tmp_path


def test_fit_with_report_then_report(folder):
    done = run("fit", "data.csv", "--target", "y", "--out", "m.safetensors", "--report", "r.html")
    assert "wrote r.html" in done.stdout
    assert "to 40 rows of data.csv" in (folder / "r.html").read_text(encoding="utf-8")
    done = run("report", "m.safetensors", "data.csv")
    assert "wrote m.html" in done.stdout
    assert contents(folder / "m.html") == contents(folder / "r.html")
    done = run("report", "m.safetensors", "--out", "bare.html")
    assert "greedynet report m.safetensors data.csv" in done.stdout
    assert contents(folder / "bare.html")["errors"] is None
    run("report", "m.safetensors", "data.csv", "--held-out", "data.csv", "--out", "h.html")
    assert "held-out rows" in (folder / "h.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_report_of_the_same_rows_as_the_fit(folder, missing):
    rows = "\n".join(
        f"{x % 5};{x / 10};{'ab'[x % 2]};{'hi' if x > 20 else 'lo'}" for x in range(40)
    )
    text = f"id;x;kind;class\n{rows}\n3;;a;hi\n4;1.5;;lo\n".replace(".", ",")
    (folder / "semicolons.csv").write_text(text)
    how = ["--separator", ";", "--decimal", ",", "--missing", missing]
    fit = ["fit", "semicolons.csv", "--target", "class", "--text", "id", "--ignore", "kind"]
    run(*fit, "--nodes", 4, "--out", "m.safetensors", "--report", "r.html", *how)
    data = contents(folder / "r.html")
    assert data["rows"]["all"] == {"drop": 41, "mean": 42}[missing]
    assert data["classes"] == ["hi", "lo"]
    run("report", "m.safetensors", "semicolons.csv", "--separator", ";", "--decimal", ",")
    assert contents(folder / "m.html") == data
    model = greedynet.load("m.safetensors")
    write_report(model, "p.html", "semicolons.csv", separator=";", decimal=",")
    assert contents(folder / "p.html") == data


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("report m data.csv --out no/r.html", "create the folder 'no' first"),
        ("report m data.csv --out .", "must name a file"),
        ("report m other.csv", "y"),
        ("report m data.csv --target z", "'z'"),
        ("report m words.csv", "'x' must hold numbers"),
        ("report data.csv", "data.csv"),
        ("fit data.csv --target y --out n --report no/r.html", "create the folder"),
        ("demo --out no", "does not exist"),
    ],
)
def test_mistakes_of_reports(folder, arguments, message):
    run("fit", "data.csv", "--target", "y", "--nodes", 3, "--out", "m")
    (folder / "other.csv").write_text("x,kind\n1,a\n")
    (folder / "words.csv").write_text("x,kind,y\n1,a,2\nfive,a,3\n")
    before = sorted(folder.iterdir())
    assert message in run(*arguments.split(), code=2).stderr
    assert sorted(folder.iterdir()) == before


def test_demo(folder):
    done = run("demo")
    assert "On the 400 rows held out (chosen at random), it is off by " in done.stdout
    assert "wrote greedynet-demo.html" in done.stdout
    model = greedynet.load("greedynet-demo.safetensors")
    text = (folder / "greedynet-demo.html").read_text(encoding="utf-8")
    assert "to 1,600 rows of daylight.csv" in text
    # What it says holds: on rows it has not seen, and beside the noise of a quarter of an hour.
    expected, held_out = model.expectation, model.about["held_out"]
    assert 0.8 < held_out["rmse"] / expected.expected_error < 1.2
    assert held_out["rmse"] < 1.35 * expected.on_training
    assert held_out["rmse"] < 1.35 * NOISE


def test_a_fuller_report_is_not_overwritten(folder):
    run("fit", "data.csv", "--target", "y", "--nodes", 3, "--out", "m.safetensors")
    run("report", "m.safetensors", "data.csv")
    full = (folder / "m.html").read_text(encoding="utf-8")
    refused = run("report", "m.safetensors", code=2).stderr
    assert "m.html is a report with rows, and would be overwritten by one without" in refused
    assert (folder / "m.html").read_text(encoding="utf-8") == full
    run("report", "m.safetensors", "--force")
    assert contents(folder / "m.html")["rows"] is None
    run("report", "m.safetensors")  # no fuller one


@pytest.mark.parametrize("n_columns", [1, 4, 5, 40])
def test_code_runs_for_any_number_of_columns(tmp_path, monkeypatch, n_columns):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(60, n_columns))
    table = {f"it's {j}": X[:, j] for j in range(n_columns)} | {"k": ["a", "b"] * 30, "y": X[:, 0]}
    model = greedynet.fit_table(table, "y", n_nodes=2)
    model.save("m.safetensors")
    code = code_blocks(Subject(model, "y"), "m.safetensors")["Python"]
    names = {}
    exec(code.replace("model.predict", "found = model.predict"), names)
    assert names["found"].shape == (1,)


def test_coverage_and_rows_outside_are_told(shown):
    known = case("held out")
    new = {"year": [1950.0, *known.X[:39, 0]], "price": known.y[:40]}
    _, text = shown(known.model, known.data[0], held_out=new)
    low, high = known.model.predict_interval({"year": new["year"]})
    share = np.mean((low <= new["price"]) & (new["price"] <= high))
    assert f"contain {100 * share:.1f} % of the held-out rows." in text
    assert (
        "1 of 40 held-out rows is outside the training data, beyond the range of year (1)." in text
    )
    assert "its predictions are guesses" in text


def test_held_out_rows_of_classes_are_told_once(shown):
    known = case("two inputs, classes")
    far = np.vstack([known.X[:40], [[5.0, 5.0]]]), np.append(known.y[:40], "out")
    _, text = shown(known.model, known.X, known.y, held_out=far)
    assert "1 of 41 held-out rows is outside the training data" in text
    assert "its sets may be too small" in text
    assert "intervals" not in text.split("<table>")[0].split("</style>")[1]
    assert f"{percent(known.model.score(*far))} of the classes are right" in text
    assert "of its predictions are correct" not in text
    assert "On rows that the fit itself left out: " in text


def test_daylight_is_made_by_its_formula():
    rng = np.random.default_rng(0)
    days = rng.integers(1, 366, 2000)
    reach = np.sin(np.radians(60.0))
    places = np.degrees(np.arcsin(rng.uniform(-reach, reach, 2000))).round(1) + 0.0
    hours = daylight_hours(days, places) + NOISE * rng.normal(size=2000)
    rows = zip(days.tolist(), places.tolist(), hours.tolist(), strict=True)
    lines = [f"{day},{place:.1f},{time:.2f}" for day, place, time in rows]
    wanted = "\n".join(["day,latitude,hours", *lines, ""])
    assert daylight_path().read_text(encoding="utf-8") == wanted


# Two hidden layers


def test_curves_of_the_page(pages):
    subject, _ = subject_of("two layers")
    found, wanted = contents(pages["two layers"])["columns"], column_curves(subject.network)
    assert [part["name"] for part in found["columns"]] == [
        subject.columns.features[one.feature] for one in wanted
    ]
    assert (found["left"], found["straight"], found["isSum"]) == (0, 2, True)
    for part, one in zip(found["columns"], wanted, strict=True):
        np.testing.assert_allclose(part["knots"], one.knots, rtol=1e-6)
        np.testing.assert_allclose(part["direct"], one.direct, rtol=1e-4, atol=1e-9)
        np.testing.assert_allclose(part["through"], one.through, rtol=1e-4, atol=1e-9)
    assert contents(pages["one"])["columns"] is None


def test_neurons_of_two_layers(pages):
    subject, known = subject_of("two layers")
    network, found = subject.network, contents(pages["two layers"])["neurons"]
    assert found["moves"]
    assert found["names"][:3] == ["neuron", "outer weight", "active %"]
    assert found["names"][3:] == list(subject.columns.features)
    n = int(found["rows"][0][0]) - 1
    # Along one column, all else equal, the weighted sum moves as far as the table says.
    X = np.tile(known.X[:1], (2001, 1))
    X[:, 0] = np.linspace(*network.input_range[:, 0], 2001)
    sums = network.ramps.lift(X) @ network.inner_weights[n]
    wanted = np.ptp(sums) * abs(network.outer_weights[n, 0])
    assert found["rows"][0][3] == pytest.approx(wanted, rel=0.01)


def test_words_about_two_layers(pages):
    text = pages["two layers"].read_text(encoding="utf-8")
    assert subject_of("two layers")[0].network.contents in text
    text = pages["curves"].read_text(encoding="utf-8")
    assert "It is the sum of curves of single columns with 21 hinges, without neurons" in text
    assert "No network predicted held-out rows better than the sum of one curve" in text
    assert contents(pages["curves"])["neurons"]["rows"] == []


def test_candidates_with_other_layers_are_told_in_words(shown):
    table = bent_columns(200)
    model = fit_table(table, "y", hidden_layers="auto", max_nodes=30)
    deep = model.network.ramps is not None
    growth, ladder = shown(model, table)[0]["growth"], model.estimator.ladder_
    others = [
        error
        for candidate, error in zip(ladder.candidates, ladder.errors, strict=True)
        if candidate.form == ("one layer" if deep else "two layers") and not candidate.is_constant
    ]
    ratio = min(others) / ladder.expected_error
    layers = "one hidden layer" if deep else "two hidden layers"
    assert f"with {layers} had {ratio:.3g} times the held-out error" in growth["text"]


@pytest.mark.parametrize("n_features", [1, 2])
def test_pictures_of_two_layers_have_no_kinks(shown, n_features):
    X = np.random.default_rng(0).uniform(-1, 1, (200, n_features))
    y = np.sin(4 * X[:, 0]) * X[:, -1]
    model = GreedyNetRegressor(hidden_layers=2, max_nodes=30).fit(X, y)
    assert model.network_.ramps is not None
    found, _ = shown(model, X, y)
    assert found["picture"]["kinks"] is None
    values = unpacked(found["picture"]["values"])[found["growth"]["kept"]]
    if n_features == 1:
        at = np.linspace(*found["picture"]["x"], len(values))[:, None]
        np.testing.assert_allclose(values, model.predict(at), atol=1e-3)
    assert shown(model.network_)[0]["columns"] == found["columns"]
