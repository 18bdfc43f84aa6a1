"""The report in a real browser: it draws what Python computes, for eyes, ears and fingers."""

import re
import time
from itertools import pairwise

import numpy as np
import pytest

from browser import chromium, look
from reports import CASES, HOSTILE, HOSTILE_LEVEL, HOSTILE_TARGET, case, contents, unpacked

GROWN = ["one", "two", "many", "classes", "held out", "two layers"]


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    return {name: case(name).write(folder / f"{name}.html") for name in CASES}


@pytest.fixture
def page(driver, files):
    """Open the report of a case, as a reader with these preferences sees it."""

    def open_page(name, **preferences):
        look(driver, **preferences)
        driver.get(files[name].as_uri())
        return driver

    yield open_page
    assert driver.get_log("browser") == []


def run(driver, code, *arguments):
    return driver.execute_script(code, *arguments)


def find(driver, selector):
    return driver.find_elements("css selector", selector)


def text(driver, selector):
    return run(driver, "return document.querySelector(arguments[0]).textContent", selector)


def all_texts(driver, selector):
    code = "return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)"
    return run(driver, code, selector)


def press(driver, selector, *names):
    """Press keys by their names, such as SPACE, or a character."""
    from selenium.webdriver.common.keys import Keys

    keys = (getattr(Keys, name, name) for name in names)
    driver.find_element("css selector", selector).send_keys(*keys)


def open_all(driver):
    """Open all tables behind pictures, and wait until they are built."""
    run(driver, "document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    empty = "return document.querySelectorAll('details table:empty').length"
    wait_until(lambda: run(driver, empty) == 0)


def wait_until(done, seconds=10):
    ends = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < ends


DRAWN = """
const svg = document.querySelector(arguments[0] + " svg"), inner = svg.querySelector(".inner");
const ticks = (kind, at) => [...svg.querySelectorAll("." + kind)].map(
  (text) => [Number(text.textContent.replace(/,/g, "")), Number(text.getAttribute(at))]);
return {
  x: ticks("x-tick", "x"), y: ticks("y-tick", "y"),
  left: Number(inner.getAttribute("x")), top: Number(inner.getAttribute("y")),
  path: [...inner.querySelectorAll("path.approximation, path.column")].map(
    (path) => path.getAttribute("d")),
  dots: [...inner.querySelectorAll("circle.predicted")].map(
    (dot) => [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))]),
};
"""


def drawn(driver, selector):
    """Return the points of lines, or of dots, as the reader takes them from the axes."""
    found = run(driver, DRAWN, selector)
    points = [
        np.array(re.findall(r"[ML](-?[\d.]+),(-?[\d.]+)", path), dtype=float)
        for path in found["path"]
    ] or [np.array(found["dots"])]
    x, y = (np.array(found[axis]) for axis in "xy")
    assert len(x) > 1
    assert len(y) > 1
    per_x = np.polyfit(x[:, 1] - found["left"], x[:, 0], 1)
    # The text of a tick stands 4 pixels below its line.
    per_y = np.polyfit(y[:, 1] - 4 - found["top"], y[:, 0], 1)
    pixel = np.abs([per_x[0], per_y[0]])
    return (
        [np.polyval(per_x, p[:, 0]) for p in points],
        [np.polyval(per_y, p[:, 1]) for p in points],
        pixel,
    )


# Every page


@pytest.mark.parametrize("name", CASES)
def test_page_opens_without_errors_and_fetches_nothing(page, name):
    driver = page(name)
    titles = {"constant": "A constant for", "curves": "A sum of curves for"}
    assert text(driver, "h1").startswith(titles.get(name, "A network for"))
    open_all(driver)
    assert run(driver, "return performance.getEntriesByType('resource').length") == 0
    asked = "return fetch('https://example.org/').then(() => 'let', () => 'refused')"
    assert run(driver, asked) == "refused"
    html = run(driver, "return document.querySelector('main').innerHTML")
    assert not re.search(r"\b(NaN|Infinity|undefined|null)\b", html)
    refused = driver.get_log("browser")  # the browser reports what the page forbids
    assert all("Content Security Policy" in entry["message"] for entry in refused)


@pytest.mark.parametrize("name", CASES)
def test_no_sideways_scrolling_on_a_phone(page, name):
    driver = page(name, width=360)
    open_all(driver)
    assert run(driver, "return document.documentElement.scrollWidth") <= 360
    wide = """return [...document.querySelectorAll("main *")].filter(
      (node) => !node.closest(".scroll, pre, svg svg") && node.getBoundingClientRect().right > 361
    ).map((node) => node.outerHTML.slice(0, 80))"""
    assert run(driver, wide) == []


CONTRAST = """
// Computed colours are rgb(255, 255, 255), or color(srgb 1 1 1) where they were mixed.
const rgb = (text) => {
  const unit = text.startsWith("color") ? 255 : 1;
  return text.match(/[\\d.]+/g).map((part) => unit * part);
};
const channel = (v) => v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const behind = (node) => {
  for (; node; node = node.parentElement) {
    const found = rgb(getComputedStyle(node).backgroundColor);
    if (found.length < 4 || found[3] > 0) return found;
  }
};
const worst = [];
const tags = "h1, h2, h3, h4, p, li, a, th, td, button, caption, code, text, output, label, "
  + "summary";
for (const node of document.querySelectorAll(tags)) {
  const seen = node.textContent.trim() && node.getClientRects().length;
  if (!seen || node.className === "skip") continue;
  const style = getComputedStyle(node);
  const front = rgb(node.tagName === "text" ? style.fill : style.color);
  const [a, b] = [light(front), light(behind(node))].sort((p, q) => q - p);
  worst.push([(a + 0.05) / (b + 0.05), node.tagName, node.textContent.slice(0, 20)]);
}
return worst.sort((p, q) => p[0] - q[0])[0];
"""


@pytest.mark.parametrize("name", ["one", "many", "classes", "two layers"])
def test_both_palettes_can_be_read(page, name):
    grounds = set()
    for scheme in ("light", "dark"):
        driver = page(name, scheme=scheme)
        ground = run(driver, "return getComputedStyle(document.body).backgroundColor")
        grounds.add(ground)
        open_all(driver)
        ratio, *where = run(driver, CONTRAST)
        assert ratio >= 4.5, (scheme, where)
    assert len(grounds) == 2


@pytest.mark.parametrize("name", CASES)
def test_structure_for_screen_readers(page, name):
    driver = page(name)
    open_all(driver)
    assert run(driver, "return document.documentElement.lang") == "en"
    assert [len(find(driver, tag)) for tag in ("header", "nav", "main", "footer", "h1")] == [1] * 5
    levels = run(
        driver,
        """return [...document.querySelectorAll("h1, h2, h3, h4")]
        .filter((node) => node.getClientRects().length).map((node) => Number(node.tagName[1]))""",
    )
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for picture in find(driver, ".picture > svg"):
        assert picture.get_attribute("role") == "img"
        assert len(picture.get_attribute("aria-label")) > 10
    # Every chart has its table, under a name of its own.
    names = all_texts(driver, "summary")
    assert len(set(names)) == len(names) == len(find(driver, "svg[role=img]"))
    seen = "[...document.querySelectorAll('table')].filter((t) => t.getClientRects().length)"
    lacking = "(t) => !t.querySelector('caption') || t.querySelector('th:not([scope])')"
    assert run(driver, f"return {seen}.filter({lacking}).length") == 0
    # Links lead somewhere that can be seen.
    dead = """return [...document.querySelectorAll("nav a")].filter((a) => a.getClientRects().length
      && !document.querySelector(a.getAttribute("href")).getClientRects().length).length"""
    assert run(driver, dead) == 0


def test_everything_is_reached_by_tab(page):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    driver = page("classes")
    number = """const controls = "a, button, input, select, summary, [tabindex='0']";
    return [...document.querySelectorAll(controls)].filter((node) => node.checkVisibility())
    .map((node, i) => { node.dataset.n = i; return i; })"""
    focus = """const node = document.activeElement, style = getComputedStyle(node);
    const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 1;
    return [node.dataset.n, seen];"""
    wanted, reached = set(run(driver, number)), set()
    chain = ActionChains(driver, duration=0)
    for _ in range(len(wanted) + 2):
        chain.send_keys(Keys.TAB).perform()
        at, seen = run(driver, focus)
        if at is not None:
            reached.add(int(at))
            assert seen, "the focus must be seen"
    assert reached == wanted


# The slider


@pytest.mark.parametrize("name", GROWN)
def test_slider_walks_the_growth(page, name):
    driver = page(name)
    picture = "return document.getElementById('picture').innerHTML"
    kept, told = run(driver, picture), text(driver, "#status")
    path = getattr(case(name).model, "path_", None) or case(name).model.estimator.path_
    at = path.position(path.best_n_nodes)
    assert told.startswith(f"{path.best_n_nodes} nodes, kept: ")
    assert f"{path.held_out_errors[at]:.3g} on held-out rows" in told
    seen = []
    press(driver, "#stop", "HOME")
    for n, width in enumerate(path.n_nodes.tolist()):
        now, name_now = text(driver, "#status"), f"{width} nodes{', kept' if n == at else ''}"
        assert now.startswith(f"{name_now}: ")
        assert f"{path.training_errors[n]:.3g} on training rows" in now
        valuetext = run(driver, "return document.getElementById('stop').ariaValueText")
        assert valuetext == name_now
        seen.append(run(driver, picture))
        press(driver, "#stop", "ARROW_RIGHT")
    assert seen[at] == kept
    assert len(path) == 1 or len(set(seen)) > 1
    assert run(driver, "return Number(document.getElementById('stop').value)") == len(path) - 1
    assert run(driver, "return document.getElementById('status').ariaLive") == "polite"


def test_curve_is_that_of_the_network(page):
    driver, known = page("one"), case("one")
    (x,), (y,), pixel = drawn(driver, "#picture")
    assert len(x) > 200
    slopes = np.abs(np.diff(y) / np.diff(x)).max()
    np.testing.assert_allclose(
        y, known.model.predict(x[:, None]), atol=0.05 * pixel[1] + 0.05 * slopes * pixel[0]
    )
    rmse = np.sqrt(np.mean((known.model.predict(known.X) - known.y) ** 2))
    assert f"RMSE {rmse:.4g} on the rows shown" in text(driver, "#status")
    # And another stop is that width of the path.
    press(driver, "#stop", "HOME", "ARROW_RIGHT", "ARROW_RIGHT")
    (x,), (y,), pixel = drawn(driver, "#picture")
    wanted = known.model.truncate(4).predict(x[:, None])
    np.testing.assert_allclose(y, wanted, atol=0.05 * pixel[1] + 0.05 * slopes * pixel[0])


def test_predictions_are_those_of_python(page):
    driver, known = page("many"), case("many")
    (actual,), (found,), pixel = drawn(driver, "#picture")
    np.testing.assert_allclose(actual, known.y, atol=0.05 * pixel[0] + 1e-4)
    wanted = known.model.network.predict(known.X)
    np.testing.assert_allclose(found, wanted, atol=0.05 * pixel[1] + 1e-3)


def test_map_has_the_networks_colours(page):
    driver, known = page("two"), case("two")
    brightness = driver.execute_async_script(
        """const done = arguments[0], picture = new Image();
        picture.onload = () => {
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [picture.width, picture.height];
          const context = canvas.getContext("2d");
          context.drawImage(picture, 0, 0);
          const data = context.getImageData(0, 0, canvas.width, canvas.height).data, found = [];
          for (let i = 0; i < data.length; i += 4) found.push(data[i] + data[i + 1]);
          done(found);
        };
        picture.src = document.querySelector("#picture image").getAttribute("href");"""
    )
    image = np.array(brightness).reshape(60, 60)[::-1]  # the first row of an image is its top
    low, high = known.X.min(axis=0), known.X.max(axis=0)
    margin = 0.02 * (high - low)
    middles = [
        a - m + (b - a + 2 * m) * (np.arange(60) + 0.5) / 60
        for a, b, m in zip(low, high, margin, strict=True)
    ]
    rows = np.column_stack([part.ravel() for part in np.meshgrid(*middles)])
    values = np.clip(known.model.predict(rows), known.y.min(), known.y.max())
    # The more, the brighter: the same order of all pixels, up to the steps of the colours.
    order = np.argsort(values, kind="stable")
    falls = np.diff(image.ravel()[order]).clip(max=0).min()
    assert falls >= -6
    assert np.corrcoef(values, image.ravel())[0, 1] > 0.95


def test_confusions_of_the_last_stop_are_counted(page):
    driver, known = page("classes"), case("classes")
    counts = [int(cell) for cell in all_texts(driver, "#picture tbody td")]
    classes = known.model.classes_
    found = known.model.predict(known.X)
    wanted = [np.sum((known.y == a) & (found == b)) for a in classes for b in classes]
    assert counts == wanted
    effects = "return document.getElementById('effects').innerHTML"
    before = run(driver, effects)
    press(driver, "#class", "ARROW_DOWN")
    assert run(driver, effects) != before


def test_years_are_years_and_prices_have_commas(page):
    driver = page("held out")
    years = all_texts(driver, "#picture .x-tick")
    assert all(re.fullmatch(r"[12]\d\d\d(\.\d)?", tick) for tick in years)
    assert len(set(years)) > 3
    prices = all_texts(driver, "#picture .y-tick")
    assert all(re.fullmatch(r"\d{1,2},\d{3}", tick) for tick in prices)


def test_band_of_the_curve_is_the_interval_of_the_network(page):
    driver, known = page("held out"), case("held out")
    places = np.linspace(*run(driver, "return data.picture.x"), 241)
    low, high = known.model.estimator.predict_interval(places[:, None])
    code = """
    const frame = document.querySelector("#picture .band").getAttribute("d");
    return frame.match(/-?[\\d.]+,-?[\\d.]+/g).map((pair) => Number(pair.split(",")[1]));
    """
    drawn_at = np.array(run(driver, code))
    _, ys, pixel = drawn(driver, "#picture")
    middle, per = ys[0], pixel[1]
    line = run(
        driver, "return document.querySelector('#picture path.approximation').getAttribute('d')"
    )
    at = np.array(re.findall(r",(-?[\d.]+)", line), dtype=float)
    ends = middle - (drawn_at - np.concatenate([at, at[::-1]])).reshape(2, -1)[0] * per
    np.testing.assert_allclose(ends, low, atol=2 * per)
    assert len(drawn_at) == 482
    upper = middle[::-1] - (drawn_at[241:] - at[::-1]) * per
    np.testing.assert_allclose(upper[::-1], high, atol=2 * per)
    press(driver, "#stop", "ARROW_LEFT")
    assert not driver.find_elements("css selector", "#picture path.band")


def test_bars_of_the_scatter_are_intervals(page):
    driver, known = page("many"), case("many")
    low, high = known.model.predict_interval(known.X)
    code = """
    return [...document.querySelectorAll("#picture .bar-line")].map(
      (bar) => [Number(bar.getAttribute("y1")), Number(bar.getAttribute("y2"))]);
    """
    bars = np.array(run(driver, code))
    assert len(bars) == len(known.y)
    _, ys, pixel = drawn(driver, "#picture")
    dots = np.array(run(driver, DRAWN, "#picture")["dots"])[:, 1]
    limits = run(driver, "return [data.picture.values.low, data.picture.values.high]")
    for at, end in ((0, low), (1, high)):
        found = ys[0] - (bars[:, at] - dots) * pixel[1]
        np.testing.assert_allclose(found, np.clip(end, *limits), atol=2 * pixel[1])


@pytest.mark.parametrize("name", ["one", "classes"])
def test_dot_of_the_path_is_the_network_that_was_kept(page, name):
    driver, path = page(name), case(name).model.path_
    code = """
    const at = (node) => [Number(node.getAttribute("cx")), Number(node.getAttribute("cy"))];
    const all = (kind) => [...document.querySelectorAll(`#path .${kind}`)].map(at);
    return [all("kept"), all("width")];
    """
    (kept,), widths = run(driver, code)
    # A dot for each width and each of the two curves, and a larger one on that of held-out rows.
    assert len(widths) == 2 * len(path)
    at = widths[len(path) + path.position(path.best_n_nodes)]
    assert kept == at
    assert text(driver, "#path-legend") == "training rowsheld-out rowsthe network that was kept"
    assert text(driver, "#path-text").startswith("Error on training rows and on held-out rows")


def test_training_rows_are_one_click_away(page):
    driver = page("held out")
    buttons = "[...document.querySelectorAll('#rows-switch button')]"
    pressed = f"return {buttons}.map((button) => [button.textContent, button.ariaPressed])"
    names = ["held-out rows (60)", "training rows (180)"]
    count = "return document.querySelectorAll('#picture circle.dot').length"
    assert run(driver, pressed) == [[names[0], "true"], [names[1], "false"]]
    assert "All 60 held-out rows." in text(driver, "#errors-text")
    assert run(driver, count) == 60
    press(driver, "#rows-switch button:last-of-type", " ")
    assert run(driver, pressed) == [[names[0], "false"], [names[1], "true"]]
    assert run(driver, "return document.activeElement.textContent") == names[1]
    for place in ("#errors-text", "#importance-text", "#picture-text"):
        assert "All 180 training rows." in text(driver, place)
    assert run(driver, count) == 180
    press(driver, "#rows-switch button:first-of-type", " ")
    assert run(driver, count) == 60
    assert run(driver, "return document.querySelectorAll('#importance-table tbody tr').length") == 1
    assert len(driver.find_elements("css selector", "#rows-switch button")) == 2


@pytest.mark.slow
def test_play_moves_the_slider_from_the_first_to_the_last_stop(page):
    driver = page("one", motion="no-preference")
    last = run(driver, "return Number(document.getElementById('stop').max)")
    press(driver, "#play", " ")
    assert text(driver, "#play") == "Pause"
    assert run(driver, "return document.getElementById('status').ariaLive") == "off"
    seen, ends = set(), time.monotonic() + 20
    while text(driver, "#play") == "Pause":
        seen.add(run(driver, "return Number(document.getElementById('stop').value)"))
        assert time.monotonic() < ends
    assert len(seen) > 3
    assert min(seen) == 0
    assert run(driver, "return Number(document.getElementById('stop').value)") == last
    press(driver, "#play", " ")
    press(driver, "#play", " ")  # pauses
    assert text(driver, "#play") == "Play"


# The tables behind pictures


READ = """
const details = [...document.querySelectorAll("details")].find(
  (node) => node.querySelector("summary").textContent === "Show as a table: " + arguments[0]);
const texts = (cells) => [...cells].map((cell) => cell.textContent);
return {
  caption: texts(details.querySelectorAll("caption")).join(),
  node: details.querySelector("summary"),
  heads: texts(details.querySelectorAll("thead th")),
  rows: [...details.querySelectorAll("tbody tr")].map((row) => texts(row.children)),
  now: texts(details.querySelectorAll("[aria-current=true]")),
};
"""


def listed(driver, name):
    """Return the table behind a picture, opened by keyboard if it was closed."""
    found = run(driver, READ, name)
    if not found["rows"]:
        found["node"].send_keys("\n")
        wait_until(lambda: run(driver, READ, name)["rows"])
    return run(driver, READ, name)


def numbers(table, *columns):
    """Return columns of a table as numbers, nan where a cell holds a dash."""
    rows = [[row[c].replace("\u2013", "nan") for c in columns] for row in table["rows"]]
    return np.array(rows, dtype=float).T


def step(packed):
    return (packed["high"] - packed["low"]) / (2 ** packed["bits"] - 1)


def grouped(order, n=25):
    """Split an order of rows as evenly as can be."""
    ends = [round(g * len(order) / n) for g in range(n + 1)]
    return [order[a:b] for a, b in pairwise(ends)]


def test_table_behind_the_path_is_the_path(page):
    driver, path = page("one"), case("one").model.path_
    assert run(driver, "return document.querySelectorAll('details table > *').length") == 0  # lazy
    table = listed(driver, "relative error against nodes")
    assert table["heads"][:3] == ["nodes", "training rows", "held-out rows"]
    assert table["heads"][3:] == ["relative to the one kept", "RMSE, rows shown"]
    at = path.position(path.best_n_nodes)
    assert table["now"] == [table["rows"][at][0]] == [f"{path.best_n_nodes}, kept"]
    widths = [int(row[0].removesuffix(", kept")) for row in table["rows"]]
    assert widths == path.n_nodes.tolist()
    training, held_out, ratios = numbers(table, 1, 2, 3)
    np.testing.assert_allclose(training, path.training_errors, rtol=6e-4)
    np.testing.assert_allclose(held_out, path.held_out_errors, rtol=6e-4)
    wanted = path.held_out_errors / path.held_out_errors[at]
    np.testing.assert_allclose(ratios, wanted, atol=6e-3)
    press(driver, "#stop", "HOME", "ARROW_RIGHT")
    assert listed(driver, "relative error against nodes")["now"] == ["3"]
    listed(driver, "relative error against nodes")["node"].send_keys("\n")  # closes it
    wait_until(lambda: not find(driver, "details[open]"))


def test_table_behind_the_curve_follows_the_slider(page, files):
    driver, known = page("one"), case("one")
    picture = contents(files["one"])["picture"]
    points = np.linspace(*picture["x"], 241)[::10]
    near = np.abs(known.X - points).argmin(axis=1)
    kept = listed(driver, "the approximation")
    press(driver, "#stop", "HOME", "ARROW_RIGHT", "ARROW_RIGHT")
    fourth = listed(driver, "the approximation")
    grown = known.model.path_.network_at(4)
    for table, network, stop in (
        (kept, known.model.network_, f"{known.model.n_nodes_} nodes, kept"),
        (fourth, grown, "4 nodes"),
    ):
        assert table["caption"] == f"y at 25 of the curve's 241 points: {stop}."
        x, found, means, rows, kinks = numbers(table, *range(5))
        np.testing.assert_allclose(x, points, rtol=6e-4)
        wanted = network.predict(points[:, None])
        np.testing.assert_allclose(found, wanted, atol=2 * step(picture["values"]))
        assert rows.tolist() == np.bincount(near, minlength=25).tolist()
        for c in range(25):
            if rows[c]:
                assert means[c] == pytest.approx(known.y[near == c].mean(), rel=1e-3, abs=1e-4)
        bends = -network.biases / network.inner_weights[:, 0]
        inside = bends[(bends > points[0]) & (bends < points[-1])]
        places = np.abs(inside[:, None] - points).argmin(axis=1)
        assert kinks.tolist() == np.bincount(places, minlength=25).tolist()
    assert (len(kept["heads"]), len(fourth["heads"])) == (7, 5)
    ends = known.model.predict_interval(points[:, None])
    np.testing.assert_allclose(numbers(kept, 5, 6), ends, atol=2 * step(picture["values"]))


def test_tables_behind_errors(page):
    driver, known = page("one"), case("one")
    miss, found = known.y - known.model.predict(known.X), known.model.predict(known.X)
    table = listed(driver, "residuals against predictions")
    groups = grouped(np.argsort(found, kind="stable"))
    wanted = [
        [found[g].mean(), miss[g].mean(), np.sqrt(np.mean(miss[g] ** 2)), len(g)] for g in groups
    ]
    np.testing.assert_allclose(numbers(table, 0, 1, 2, 3).T, wanted, rtol=6e-3, atol=2e-5)
    table = listed(driver, "distribution of the residuals")
    margin = 0.05 * np.ptp(miss)
    counts, _ = np.histogram(miss, len(table["rows"]), (miss.min() - margin, miss.max() + margin))
    np.testing.assert_allclose(numbers(table, 1)[0], counts, atol=1)  # of rounded residuals
    assert numbers(table, 1).sum() == len(miss)


def test_tables_behind_many_inputs(page, files):
    driver, known, data = page("many"), case("many"), contents(files["many"])
    packed, effects = data["picture"]["values"], data["effects"]
    open_all(driver)
    for stop in (data["growth"]["kept"], 0):
        if stop == 0:
            press(driver, "#stop", "HOME")
        predicted = unpacked(packed)[stop]
        groups = grouped(np.argsort(known.y, kind="stable"))
        wanted = [[known.y[g].mean(), predicted[g].mean()] for g in groups]
        found = numbers(listed(driver, "predicted against actual"), 0, 1).T
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)
        for effect in effects:
            table = listed(driver, f"effect of {effect['name']}")
            wanted = unpacked(effect["values"])[stop, :, 0]
            np.testing.assert_allclose(
                numbers(table, 1)[0], wanted, atol=2 * step(effect["values"])
            )
            assert table["heads"] == [effect["name"], f"mean {HOSTILE_TARGET}"]
    levels = [row[0] for row in listed(driver, f"effect of {HOSTILE}")["rows"]]
    assert levels == sorted(["blue", HOSTILE_LEVEL, "red"])
    assert find(driver, "img, main script, b") == []
    assert driver.title.startswith("A network for")


def test_tables_behind_maps(page, files):
    driver, known = page("two"), case("two")
    data = contents(files["two"])
    packed, name = data["picture"]["values"], "the network"
    for stop in (data["growth"]["kept"], 0):
        if stop == 0:
            press(driver, "#stop", "HOME")
        table = listed(driver, name)
        pixels = unpacked(packed)[stop].reshape(6, 10, 6, 10)
        wanted = pixels.mean(axis=(1, 3))[::-1]
        found = numbers(table, *range(1, 7)).T
        np.testing.assert_allclose(found, wanted, atol=2 * step(packed))
    rows = listed(driver, "the rows")["rows"]
    counts = [[int(re.search(r"\((\d+)\)|$", cell)[1] or 0) for cell in row[1:]] for row in rows]
    spans = [(c.min() - 0.02 * np.ptp(c), c.max() + 0.02 * np.ptp(c)) for c in known.X.T]
    wanted = np.histogram2d(known.X[:, 1], known.X[:, 0], 6, spans[::-1])[0][::-1]
    assert counts == wanted.tolist()


def test_tables_behind_classes(page, files):
    driver, data = page("classes"), contents(files["classes"])
    effect = data["effects"][0]
    press(driver, "#class", "END")
    table = listed(driver, f"effect of {effect['name']}")
    assert table["heads"][1] == f"mean probability of {data['classes'][-1]}"
    wanted = unpacked(effect["values"])[data["growth"]["kept"], :, -1]
    np.testing.assert_allclose(numbers(table, 1)[0], wanted, atol=2 / 255)
    rows = listed(driver, "calibration")["rows"]
    assert [int(row[2]) for row in rows] == [g["rows"] for g in data["errors"]["calibration"]]
    assert [float(row[1].removesuffix(" %")) for row in rows] == pytest.approx(
        [100 * group["accuracy"] for group in data["errors"]["calibration"]], rel=6e-3
    )


def test_tables_behind_classes_of_one_and_two_inputs(page, files):
    driver, known = page("one input, classes"), case("one input, classes")
    press(driver, "#stop", "HOME")
    table = listed(driver, "the probability of each class")
    p = unpacked(contents(files["one input, classes"])["picture"]["values"])[0, ::10]
    np.testing.assert_allclose(numbers(table, 1, 2).T, p, atol=2 / 255)
    rows = [int(n) for row in table["rows"] for n in re.findall(r"True: (\d+)", row[3])]
    assert sum(rows) == known.y.sum()
    driver, known = page("two inputs, classes"), case("two inputs, classes")
    data = contents(files["two inputs, classes"])
    bytes_ = unpacked(data["picture"]["values"])[data["growth"]["kept"]]
    outside = (bytes_.reshape(6, 10, 6, 10) // 16).mean(axis=(1, 3))[::-1]
    for row, shares in zip(listed(driver, "the network")["rows"], outside, strict=True):
        for cell, share in zip(row[1:], shares, strict=True):
            most = max(share, 1 - share)
            wanted = "out" if share > 0.5 else "in"
            assert cell == (wanted if most == 1 else f"{wanted} ({100 * most:.0f} %)")
    text = " ".join(cell for row in listed(driver, "the rows")["rows"] for cell in row[1:])
    assert sum(int(n) for n in re.findall(r"in: (\d+)", text)) == np.sum(known.y == "in")


@pytest.mark.parametrize(("name", "marks"), [("one", ".kink"), ("two", ".kink-line")])
def test_kinks_can_be_hidden(page, name, marks):
    driver = page(name)

    def seen():
        code = "return [...document.querySelectorAll(arguments[0])].map(n => n.checkVisibility())"
        return run(driver, code, f"#picture {marks}")

    drawn = seen()
    assert drawn
    assert all(drawn)
    switch = "#picture-legend input[type=checkbox]"
    assert "inks" in text(driver, "#picture-legend")
    press(driver, switch, "SPACE")
    assert seen() == [False] * len(drawn)
    press(driver, "#stop", "ARROW_LEFT")  # stays so when the picture is drawn anew
    assert not any(seen())
    assert find(driver, "#picture svg")[0].is_displayed()
    press(driver, switch, "SPACE")
    assert all(seen())


# Numbers as text


def called(driver, name, *calls):
    """Return what a function of the page's script gives, call by call."""
    return run(driver, f"return arguments[0].map((given) => {name}(...given))", calls)


EIGHT, SIXTEEN = ({"low": -1, "high": 1, "bits": bits} for bits in (8, 16))
LIMITS, CLIPPED = {"low": -1.2345, "high": 2}, " Values beyond -1.23 and 2 are clipped."
# What functions of the page's script give, call by call.
WRITTEN = {
    # With an exponent from a billion on, and below a ten thousandth.
    "shown large": [((8950,), "8,950"), ((999_900_000,), "999,900,000"), ((1e9,), "1e9")],
    "shown negative": [((-1_234_567,), "-1,234,567"), ((-1_234_567_890,), "-1.235e9")],
    "shown small": [((1e-4,), "0.0001"), ((-1.2345e-4,), "-0.0001234"), ((9.99e-5,), "9.99e-5")],
    # Four digits if no others are asked for, none of them zeros at the end; more of whole
    # numbers, as in the texts that Python writes.
    "shown digits": [((12.3456,), "12.35"), ((12.3456, 3), "12.3"), ((1.23456e-5,), "1.235e-5")],
    "shown whole": [((1.23456e7, 3), "12,345,600"), ((12.0004,), "12"), ((2e12, 3), "2e12")],
    "shown none": [((0,), "0"), ((None,), "\u2013")],
    # A number, the size of the largest, and steps that say nothing.
    "shownTo": [((3.14159, 10, 0.01), "3.14"), ((3.14159, 10, 0.02), "3.14")],
    "shownTo coarse": [((3.14159, 10, 0.3), "3"), ((123.456, 200, 4), "125")],
    "shownPacked": [((0.123456, EIGHT), "0.12"), ((0.123456, SIXTEEN), "0.12345")],
    "clippedNote": [(([0, 2], LIMITS), CLIPPED), (([-1.2345, 0], LIMITS), CLIPPED)],
    "clippedNote none": [(([-1.2, 1.9], LIMITS), "")],
    "short": [(("abcdef", 6), "abcdef"), (("abcdefg", 6), "abcde…")],
    "roundStep": [((1,), 1), ((1.1,), 2), ((2,), 2), ((2.1,), 5), ((5,), 5), ((600,), 1000)],
}


@pytest.mark.parametrize("name", WRITTEN)
def test_numbers_and_names_are_written_for_readers(page, name):
    given, wanted = zip(*WRITTEN[name], strict=True)
    assert called(page("one"), name.split()[0], *given) == list(wanted)


def test_what_is_no_number_is_a_dash(page):
    found = run(page("one"), "return [NaN, Infinity, -Infinity].map((x) => shown(x))")
    assert found == 3 * ["\u2013"]


def test_per_cents_have_three_digits(page):
    driver = page("two inputs, classes")
    groups = [
        {"confidence": 0.98765, "accuracy": 0.5, "rows": 8},
        {"confidence": 0.0012345, "accuracy": 1, "rows": 2},
    ]
    (table,) = called(driver, "calibrationTable", (groups,))
    assert table["rows"] == [["98.8 %", "50 %", 8], ["0.123 %", "100 %", 2]]
    titles = """const svg = calibrationPicture(arguments[0], 500);
      return [...svg.querySelectorAll("title")].map((node) => node.textContent)"""
    assert run(driver, titles, groups) == [
        "8 rows: 98.8 % confidence, 50 % correct",
        "2 rows: 0.123 % confidence, 100 % correct",
    ]
    # Shares of a cell are told in whole ones.
    cells = [([0, 0, 1],), ([1] * 7 + [0],), ([1, 1],)]
    assert called(driver, "mostPredicted", *cells) == ["in (67 %)", "out (88 %)", "out"]


@pytest.mark.parametrize("name", ["one", "many", "without rows"])
def test_table_sorts_by_every_column_both_ways(page, name):
    driver = page(name)
    cells = """return [...document.querySelectorAll("#neurons-table tbody tr")].map(
      (row) => [...row.children].map((cell) => Number(cell.textContent)))"""
    sorts = """return [...document.querySelectorAll("#neurons-table th[scope=col]")].map(
      (head) => head.getAttribute("aria-sort"))"""
    before = np.array(run(driver, cells))
    heads = find(driver, "#neurons-table thead button")
    assert len(before) > 3
    assert len(heads) == before.shape[1]
    for column, head in enumerate(heads):
        for order, sign in (("ascending", 1), ("descending", -1)):
            run(driver, "arguments[0].focus()", head)
            head.send_keys("\n")
            after = np.array(run(driver, cells))
            assert np.all(sign * np.diff(after[:, column]) >= 0)
            assert sorted(map(tuple, after)) == sorted(map(tuple, before))
            states = run(driver, sorts)
            assert states[column] == order
            assert set(states[:column] + states[column + 1 :]) <= {"none"}


# Names from outside


def test_hostile_names_do_no_harm_and_are_shown(page):
    driver = page("many")
    assert driver.title.startswith("A network for y<!--<b>")
    assert text(driver, "h1") == f"A network for {HOSTILE_TARGET}"
    assert find(driver, "img, main script, b") == []
    assert HOSTILE in all_texts(driver, "#effects h4")
    assert any(HOSTILE_LEVEL in shown for shown in all_texts(driver, "#effects title"))
    assert f"{HOSTILE}={HOSTILE_LEVEL}" in all_texts(driver, "#neurons-table button")
    driver = page("classes")
    assert driver.title == "A network for the class"
    assert HOSTILE_LEVEL in all_texts(driver, "#class option")


def test_code_is_copied_or_selected(page):
    driver = page("one")
    driver.find_element("css selector", ".code button").click()
    wait_until(lambda: text(driver, ".code .copied"))
    said = text(driver, ".code .copied")
    assert said in (" Copied.", " Selected: press Ctrl+C.")
    if "Selected" in said:
        assert "greedynet.load" in run(driver, "return String(getSelection())")


def test_without_rows_it_says_how_to_get_the_rest(page):
    driver = page("without rows")
    assert "greedynet report model.safetensors data.csv" in text(driver, "#summary")
    hidden = ["importance", "errors", "picture-part", "effects-part"]
    assert not any(driver.find_element("id", name).is_displayed() for name in hidden)
    assert driver.find_element("id", "path-part").is_displayed()


def test_printing_has_no_controls(page):
    driver = page("one")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    controls = find(driver, "#play, summary, .legend input")
    assert len(controls) > 3
    assert not any(control.is_displayed() for control in controls)
    assert driver.find_element("id", "path").is_displayed()
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_curves_of_columns_are_drawn_and_neurons_moved_by_them(page, files):
    driver, found = page("two layers"), contents(files["two layers"])["columns"]
    first = "#columns-pictures > :first-child"
    assert text(driver, f"{first} h3") == found["columns"][0]["name"]
    x, y, pixel = drawn(driver, first)
    column = found["columns"][0]
    curves = [*column["through"], column["direct"]]  # the thick one is on top
    assert len(x) == len(curves)
    for across, up, values in zip(x, y, curves, strict=True):
        np.testing.assert_allclose(across, column["knots"], atol=pixel[0])
        np.testing.assert_allclose(up, values, atol=pixel[1])
    assert len(find(driver, f"{first} .kink")) == len(column["knots"]) - 2
    assert "what a neuron sees of the column" in text(driver, "#columns-text")
    told = f"the 3 of {found['neurons']} that the column moves most"
    assert told in text(driver, "#columns-legend")
    assert "2 inputs enter as they are" in text(driver, "#columns-text")
    open_all(driver)
    directs = all_texts(driver, f"{first} tbody td:nth-child(2)")
    directs = [float(cell.replace(",", "")) for cell in directs]
    np.testing.assert_allclose(directs, column["direct"], rtol=1e-3)
    assert "moves it at most over the training data" in text(driver, "#neurons-text")
    assert find(driver, "#neurons-table button[title='moved by age']")
    assert find(page("many"), "#columns[hidden]"), "one layer has no curves"


def test_sum_of_curves(page):
    driver = page("curves")
    assert "the prediction is their sum and a constant" in text(driver, "#columns-text")
    assert "neuron" not in text(driver, "#columns-legend")
    assert not find(driver, "nav li:not([hidden]) a[href='#neurons']")
    assert find(driver, "nav li:not([hidden]) a[href='#columns']")
