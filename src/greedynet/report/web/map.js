// Two inputs: a map of the network, at the width selected by the slider, beside the rows.

// Number of cells of the tables, in each direction.
const CELLS = 6;

function mapPicture(box) {
  const found = data.picture, values = unpacked(found.values), n = found.points;
  const classes = found.kind === "areas";
  const shades = classes ? null : colours(found.values.low, found.values.high);
  const add = (title) => {
    const inner = element("div", { class: "picture" });
    box.append(element("div", {}, element("h4", {}, title), inner));
    return inner;
  };
  box.className = "pair";
  const boxNetwork = add("The network");
  const pixel = (byte) => mixed([255, 255, 255], rgb(CLASSES[byte >> 4]), 0.15 + 0.75 * (byte & 15) / 15);
  let stop = 0;
  const paint = picture(boxNetwork, (width) => {
    const what = classes ? "the predicted class" : `the network's ${data.target}`;
    const frame = mapFrame(width, `Map of ${what} over ${found.names[0]} and ${found.names[1]}, at the width selected by the slider`);
    const here = part(values, found.values, stop);
    frame.inner.append(image(n, n, (i) => classes ? pixel(here[i]) : shades.of(here[i]), frame.w, frame.h));
    for (const [[x1, y1], [x2, y2]] of kinkLines(stop)) {
      frame.inner.append(shape("line", { class: classes ? "kink-line dark optional" : "kink-line optional",
        x1: frame.across(x1), x2: frame.across(x2), y1: frame.up(y1), y2: frame.up(y2) }));
    }
    return frame.outer;
  });
  const list = tableBehind(boxNetwork, "the network", () => mapTable(part(values, found.values, stop), stop));
  if (found.rows) {
    const boxRows = add("The rows");
    picture(boxRows, (width) => rowsMap(width, (i) => (classes ? CLASSES[found.rows.at[i]] : css(shades.of(found.rows.value[i])))))();
    tableBehind(boxRows, "the rows", rowsTable);
  }
  const legend = classes ? classLegend() : [colourBar(shades, data.target)];
  if (found.kinks) legend.push(switched(box, element("li", {}, `Lines: kinks, ${KINK_TEXT}`)));
  return {
    title: "The approximation", legend, show: (at) => { stop = at; paint(); list(); },
    text: classes ? "The deeper the colour, the higher the probability of the predicted class." : "",
  };
}

function mapFrame(width, label) {
  const [x, y] = data.picture.x.map(([low, high], i) => ({ low, high, name: data.picture.names[i] }));
  return chart({ width, height: Math.min(380, 0.72 * width + 50), label, grid: false, x, y });
}

function rowsMap(width, tint) {
  const frame = mapFrame(width, `The rows, coloured by their ${data.target}`), { rows } = data.picture;
  rows.x.forEach((x, i) => frame.inner.append(
    shape("circle", { cx: frame.across(x), cy: frame.up(rows.y[i]), r: 3.5, fill: tint(i), class: "seen" })));
  return frame.outer;
}

// The end points of the kinks that cross the map at a stop.
function kinkLines(stop) {
  return kinksAt(stop).map((kink) => clipped(kink, data.picture.x)).filter((ends) => ends);
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

// A table in the layout of the map, with large values of the second input at the top: `text` of the points in each
// cell. The positions `across` and `up` are fractions between 0 and 1.
function cellTable(across, up, text, caption) {
  const { x, names } = data.picture;
  const cell = (share) => Math.min(CELLS - 1, Math.floor(share * CELLS));
  const members = Array.from({ length: CELLS * CELLS }, () => []);
  across.forEach((share, i) => members[cell(up[i]) * CELLS + cell(share)].push(i));
  const middle = ([low, high], c) => shown(low + (high - low) * (c + 0.5) / CELLS, 3);
  const columns = Array.from({ length: CELLS }, (_, c) => c);
  return {
    caption: `${caption} The map is divided into ${CELLS} by ${CELLS} cells, given by their centres.`,
    heads: [`${names[1]} ↓ ${names[0]} →`, ...columns.map((c) => middle(x[0], c))],
    rows: columns.map((r) => [middle(x[1], r), ...columns.map((c) => text(members[r * CELLS + c]))]).reverse(),
  };
}

function mapTable(here, stop) {
  const { points: n, values, kind, kinks } = data.picture;
  const across = Array.from(here, (_, i) => (i % n + 0.5) / n), up = Array.from(here, (_, i) => (Math.floor(i / n) + 0.5) / n);
  const crossing = kinks ? ` ${kinkLines(stop).length} of ${kinksAt(stop).length} kinks cross the map.` : "";
  if (kind === "areas") {
    const text = (pixels) => mostPredicted(pixels.map((i) => here[i] >> 4));
    return cellTable(across, up, text, `The class predicted on most of each cell, and on what percentage of it, if not all: ${stopName(stop)}.${crossing}`);
  }
  const text = (pixels) => shownPacked(mean(pixels.map((i) => here[i])), values);
  return cellTable(across, up, text, `Mean of the network's ${data.target} over each cell: ${stopName(stop)}.${crossing}${clippedNote(here, values)}`);
}

function mostPredicted(classes) {
  const counts = counted(classes), largest = Math.max(...counts), name = data.classes[counts.indexOf(largest)];
  return largest === classes.length ? name : `${name} (${Math.round(100 * largest / classes.length)} %)`;
}

function rowsTable() {
  const { rows, x } = data.picture;
  const shares = (values, [low, high]) => values.map((value) => (value - low) / (high - low));
  const means = (near) => (near.length ? `${shown(mean(near.map((i) => rows.value[i])))} (${near.length})` : "–");
  const text = rows.at ? (near) => classCounts(near.map((i) => rows.at[i])) : means;
  const what = rows.at ? "Number of rows of each class in each cell." : `Mean ${data.target} of the rows in each cell, and their number.`;
  return cellTable(shares(rows.x, x[0]), shares(rows.y, x[1]), text, what);
}
