// The picture above the slider, one function for each kind. Each fills `box` and returns
// {title, text, legend, show}; `show(stop)` draws the network at a stop.

function kinksAt(data, stop) {
  if (!data.picture.kinks) return [];
  const last = data.growth ? data.growth.steps.length : 0;
  if (stop === last) return data.picture.kinks.finished;
  return data.picture.kinks.grown.slice(0, data.growth.steps[stop]);
}

const KINK_WORD = "Kinks, where a neuron switches on or off";

// One input, numbers: the curve.
function curvePicture(data, box) {
  const found = data.picture, values = unpacked(found.values), n = found.values.shape[1];
  const [low, high] = found.x;
  const xs = Float64Array.from({ length: n }, (_, i) => low + (high - low) * i / (n - 1));
  let stop = 0;
  const paint = picture(box, (width) => {
    const frame = chart({
      width, height: Math.min(420, 0.35 * width + 190), label: `The network's curve over ${found.names[0]}, at the width the slider names`,
      x: { low, high, name: found.names[0] }, y: { low: found.y[0], high: found.y[1], name: data.target },
    });
    if (found.rows) {
      found.rows.x.forEach((x, i) => frame.inner.append(
        shape("circle", { class: "dot", cx: frame.across(x), cy: frame.up(found.rows.y[i]), r: 2.5 })));
    }
    for (const [a, b] of kinksAt(data, stop)) {
      const at = frame.across(-b / a);
      frame.inner.append(shape("line", { class: "kink", x1: at, x2: at, y1: frame.h - 12, y2: frame.h }));
    }
    const ys = Array.from(part(values, found.values, stop), frame.up);
    frame.inner.append(shape("path", { class: "line red approximation", d: trace(Array.from(xs, frame.across), ys) }));
    return frame.outer;
  });
  const legend = [entry(lineMark("red"), "the network")];
  if (found.rows) legend.push(entry(dotMark({ class: "dot" }), "rows"));
  if (found.kinks) legend.push(entry(lineMark("kink"), KINK_WORD));
  return { title: "The approximation", legend, text: "", show: (at) => { stop = at; paint(); } };
}

// One input, classes: the probability of each.
function chancesPicture(data, box) {
  const found = data.picture, values = unpacked(found.values);
  const [, n, k] = found.values.shape;
  const [low, high] = found.x;
  let stop = 0;
  const paint = picture(box, (width) => {
    const frame = chart({
      width, height: Math.min(380, 0.3 * width + 180), label: `Probability of each class over ${found.names[0]}`,
      x: { low, high, name: found.names[0] }, y: { low: -0.02, high: 1.02, name: "probability" },
    });
    const p = part(values, found.values, stop);
    const xs = Array.from({ length: n }, (_, i) => frame.across(low + (high - low) * i / (n - 1)));
    for (let c = 0; c < k; c++) {
      const ys = xs.map((_, i) => frame.up(p[i * k + c]));
      frame.inner.append(shape("path", { class: "line approximation", stroke: CLASSES[c], d: trace(xs, ys) }));
    }
    if (found.rows) {
      found.rows.x.forEach((x, i) => frame.inner.append(shape("line", {
        stroke: CLASSES[found.rows.at[i]], "stroke-opacity": 0.5, x1: frame.across(x), x2: frame.across(x), y1: frame.h - 9, y2: frame.h })));
    }
    return frame.outer;
  });
  const text = found.rows ? "Ticks along the bottom are rows, in the colour of their class." : "";
  return { title: "The probability of each class", legend: classLegend(data), text, show: (at) => { stop = at; paint(); } };
}

function classLegend(data) {
  return data.classes.map((name, c) => entry(dotMark({ fill: CLASSES[c] }), name));
}

// Two inputs: a map of the network beside the rows.
function mapPicture(data, box) {
  const found = data.picture, values = unpacked(found.values), n = found.points;
  const classes = found.kind === "areas";
  const shades = classes ? null : colours(found.values.low, found.values.high);
  const [boxNetwork, boxRows] = [element("div", { class: "picture" }), element("div", { class: "picture" })];
  box.className = "pair";
  box.append(element("div", {}, element("h4", {}, "The network"), boxNetwork));
  if (found.rows) box.append(element("div", {}, element("h4", {}, "The rows"), boxRows));
  const frameOf = (width, label) => chart({
    width, height: Math.min(380, 0.72 * width + 50), label, grid: false,
    x: { low: found.x[0][0], high: found.x[0][1], name: found.names[0] },
    y: { low: found.x[1][0], high: found.x[1][1], name: found.names[1] },
  });
  const paper = [255, 255, 255];
  const pixel = (byte) => mixed(paper, rgb(CLASSES[byte >> 4]), 0.15 + 0.75 * (byte & 15) / 15);
  let stop = 0;
  const paint = picture(boxNetwork, (width) => {
    const what = classes ? "the class the network names" : `the network's ${data.target}`;
    const frame = frameOf(width, `Map of ${what} over ${found.names[0]} and ${found.names[1]}, at the width the slider names`);
    const here = part(values, found.values, stop);
    frame.inner.append(image(n, n, (i) => classes ? pixel(here[i]) : shades.of(here[i]), frame.w, frame.h));
    for (const kink of kinksAt(data, stop)) {
      const ends = clipped(kink, found.x);
      if (ends) {
        const [[x1, y1], [x2, y2]] = ends;
        frame.inner.append(shape("line", { class: classes ? "kink-line dark" : "kink-line",
          x1: frame.across(x1), x2: frame.across(x2), y1: frame.up(y1), y2: frame.up(y2) }));
      }
    }
    return frame.outer;
  });
  if (found.rows) {
    picture(boxRows, (width) => {
      const frame = frameOf(width, `The rows, coloured by their ${data.target}`);
      found.rows.x.forEach((x, i) => {
        const tint = classes ? CLASSES[found.rows.at[i]] : css(shades.of(found.rows.value[i]));
        frame.inner.append(shape("circle", { cx: frame.across(x), cy: frame.up(found.rows.y[i]), r: 3.5, fill: tint, class: "seen" }));
      });
      return frame.outer;
    })();
  }
  const legend = classes ? classLegend(data) : [colourBar(shades, data.target)];
  if (found.kinks) legend.push(element("li", {}, `Lines: ${KINK_WORD.toLowerCase()}`));
  return {
    title: "The approximation", legend, show: (at) => { stop = at; paint(); },
    text: classes ? "The deeper the colour, the surer the network." : "",
  };
}

// Where the line a1 x + a2 y + b = 0 crosses the box [x0, x1] x [y0, y1]; null if it does not.
function clipped([a1, a2, b], [[x0, x1], [y0, y1]]) {
  const ends = [];
  const add = (x, y) => {
    const inside = x >= x0 && x <= x1 && y >= y0 && y <= y1;
    const known = ends.some(([u, v]) => Math.abs(u - x) < 1e-9 * (x1 - x0) && Math.abs(v - y) < 1e-9 * (y1 - y0));
    if (inside && !known) ends.push([x, y]);
  };
  if (a2) [x0, x1].forEach((x) => add(x, -(a1 * x + b) / a2));
  if (a1) [y0, y1].forEach((y) => add(-(a2 * y + b) / a1, y));
  return ends.length < 2 ? null : ends.slice(0, 2);
}

function colourBar(shades, name) {
  const bar = shape("svg", { width: 120, height: 12, "aria-hidden": "true" },
    image(60, 1, (i) => shades.of(shades.low + (shades.high - shades.low) * i / 59), 120, 12));
  return element("li", {}, `${short(name, 30)}: ${shown(shades.low, 3)} `, bar, ` ${shown(shades.high, 3)}`);
}

// More inputs, numbers: predicted against actual.
function scatterPicture(data, box) {
  const found = data.picture, values = unpacked(found.values), { low, high } = found.values;
  let stop = 0;
  const paint = picture(box, (width) => {
    const side = Math.min(width, 460);
    const frame = chart({
      width: side, height: Math.min(380, side), label: `Predicted against actual ${data.target}; on the diagonal the two are equal`,
      x: { low, high, name: `actual ${data.target}` }, y: { low, high, name: "predicted" },
    });
    frame.inner.append(shape("line", { class: "line faint", x1: frame.across(low), x2: frame.across(high), y1: frame.up(low), y2: frame.up(high) }));
    const here = part(values, found.values, stop);
    found.actual.forEach((actual, i) => {
      const dot = shape("circle", { class: "dot-blue predicted", cx: frame.across(actual), cy: frame.up(here[i]), r: 3 });
      dot.append(shape("title", {}, `actual ${shown(actual)}, predicted ${shown(here[i])}`));
      frame.inner.append(dot);
    });
    return frame.outer;
  });
  const text = "Each point is a row; on the diagonal it is predicted exactly.";
  return { title: "Predicted against actual", text, legend: [], show: (at) => { stop = at; paint(); } };
}

// More inputs, classes: which class is taken for which.
function confusionPicture(data, box) {
  const found = data.picture, classes = unpacked(found.found);
  const show = (stop) => {
    const counts = data.classes.map(() => data.classes.map(() => 0));
    part(classes, found.found, stop).forEach((at, i) => { counts[found.actual[i]][at] += 1; });
    box.replaceChildren(confusionTable(data.classes, counts));
  };
  const text = "A line for each true class, a column for the class the network names.";
  return { title: "Which class is taken for which", text, legend: [], show };
}

function confusionTable(names, counts) {
  const largest = Math.max(1, ...counts.flat());
  const head = element("tr", {}, element("td", {}, "true \\ named"), names.map((name) => element("th", { scope: "col", title: name }, short(name, 14))));
  const body = counts.map((line, i) => element("tr", {}, element("th", { scope: "row", title: names[i] }, short(names[i], 20)), line.map((count, j) => {
    const cell = element("td", i === j ? { class: "right" } : {}, String(count));
    const tint = i === j ? "var(--blue)" : "var(--red)";
    if (count) cell.style.background = `color-mix(in srgb, ${tint} ${Math.round(4 + 26 * count / largest)}%, var(--paper))`;
    return cell;
  })));
  const table = element("table", { class: "confusion" }, element("caption", {}, "True classes and the classes named"), element("thead", {}, head), element("tbody", {}, body));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of classes" }, table);
}

const PICTURES = {
  curve: curvePicture, chances: chancesPicture, map: mapPicture, areas: mapPicture, scatter: scatterPicture, confusion: confusionPicture,
};
