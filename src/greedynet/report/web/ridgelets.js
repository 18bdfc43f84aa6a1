// The collapsed ridgelet transform of the rows.

function ridgeletsSection() {
  reveal("ridgelets");
  const found = data.ridgelets;
  const common = "The collapsed ridgelet transform of the rows: it is far from zero where a neuron with this kink would explain much of the target. "
    + "The inputs are scaled to [-1, 1], and an affine function, which needs no neurons, is subtracted. "
    + "The edges of the data also show up as bends.";
  const circle = found.kind === "circle", box = byId("ridgelets-picture");
  const disc = " Each point of the disc is a straight line across the two inputs: its direction is the normal of the line, "
    + "the centre stands for lines far away from the data, the edge for lines through their middle.";
  byId("ridgelets-text").textContent = circle ? common : common + disc;
  const mark = circle ? lineMark("kink") : dotMark({ class: "neuron" });
  byId("ridgelets-legend").append(switched(box, entry(mark, circle ? "Kinks of the network" : "Neurons of the network")));
  picture(box, (width) => (circle ? ridgeletCurve(found, width) : ridgeletDisc(found, width)))();
  tableBehind(box, "the ridgelet transform", () => (circle ? ridgeletCurveTable(found) : ridgeletDiscTable(found)));
}

function ridgeletCurve(found, width) {
  const n = found.values.length - 1, most = 1.1 * Math.max(...found.values.map(Math.abs)) || 1;
  const low = Math.min(...found.values) < 0 ? -most : 0;
  // (a, b) = (sin, cos) of the angle: the kink -b / a = -cot lies at -1, 0 and 1 in the scaled input.
  const angles = [Math.PI / 4, Math.PI / 2, 3 * Math.PI / 4];
  const frame = chart({
    width, height: 260, label: "Collapsed ridgelet transform over the position of the kink",
    x: { low: 0, high: Math.PI, name: `kink, in ${data.picture.names[0]}`, ticks: angles.map((angle, i) => [angle, shownInput(found.kinks[i], 3)]) },
    y: { low, high: most, name: "transform" },
  });
  frame.inner.append(shape("line", { class: "line faint", x1: 0, x2: frame.w, y1: frame.up(0), y2: frame.up(0) }));
  const xs = found.values.map((_, i) => frame.across(Math.PI * i / n));
  frame.inner.append(shape("path", { class: "line blue", d: trace(xs, found.values.map(frame.up)) }));
  for (const angle of found.neurons) {
    frame.inner.append(shape("line", { class: "kink optional", x1: frame.across(angle), x2: frame.across(angle), y1: frame.h - 12, y2: frame.h }));
  }
  return frame.outer;
}

function ridgeletCurveTable({ values, kinks: [low, middle, high], neurons }) {
  const n = values.length - 1, chosen = spread(values.length), angles = chosen.map((i) => Math.PI * i / n);
  const near = nearest(neurons, angles);
  const place = (angle) => (Math.sin(angle) < 1e-9 ? "far away" : shownInput(middle - (high - low) / 2 / Math.tan(angle), 3));
  const most = Math.max(...values.map(Math.abs));
  const rows = chosen.map((i, row) => [place(angles[row]), shownTo(values[i], most, 1e-3 * most), near[row].length]);
  return {
    caption: `The transform at ${chosen.length} of its ${values.length} points. The data range from ${shownInput(low, 3)} to ${shownInput(high, 3)}.`,
    heads: [`kink, in ${data.picture.names[0]}`, "transform", "kinks nearby"], rows,
  };
}

function ridgeletDisc(found, width) {
  const side = Math.min(width, 420), r = side / 2 - 26, n = found.pixels, values = unpacked(found.values);
  const outer = shape("svg", { role: "img", width: side, height: side, viewBox: `0 0 ${side} ${side}`, "aria-label": "Collapsed ridgelet transform on the half sphere, with the neurons as points" });
  const shades = colours(found.values.low, found.values.high);
  const inside = (column, row) => Math.hypot((column + 0.5) / n * 2 - 1, (row + 0.5) / n * 2 - 1) <= 1;
  const disc = shape("g", { transform: `translate(${side / 2 - r} ${side / 2 - r})` });
  disc.append(image(n, n, (i, column, row) => (inside(column, row) ? shades.of(values[i]) : null), 2 * r, 2 * r));
  outer.append(disc, shape("circle", { class: "axis", cx: side / 2, cy: side / 2, r }));
  for (const [x, y] of found.neurons) {
    outer.append(shape("circle", { class: "neuron optional", cx: side / 2 + r * x, cy: side / 2 - r * y, r: 3.5 }));
  }
  const [first, second] = data.picture.names;
  outer.append(shape("text", { class: "name", x: side / 2, y: 16, "text-anchor": "middle" }, `${short(second, 20)} ↑`));
  outer.append(shape("text", { class: "name", x: side - 4, y: side - 6, "text-anchor": "end" }, `${short(first, 20)} →`));
  return outer;
}

const RINGS = ["near the middle", "between", "far away"];
const DIRECTIONS = 12;

// The disc divided by directions and rings: the value farthest from zero in each part, and its number of neurons.
function ridgeletDiscTable(found) {
  const n = found.pixels, values = unpacked(found.values), middle = (i) => (i + 0.5) / n * 2 - 1;
  const partOf = (x, y) => {
    const ring = RINGS.length - 1 - Math.min(RINGS.length - 1, Math.floor(RINGS.length * Math.hypot(x, y)));
    const turn = Math.round(DIRECTIONS * Math.atan2(y, x) / (2 * Math.PI));
    return (turn + DIRECTIONS) % DIRECTIONS * RINGS.length + ring;
  };
  const parts = Array.from({ length: DIRECTIONS * RINGS.length }, () => ({ value: 0, neurons: 0 }));
  values.forEach((value, i) => {
    const [x, y] = [middle(i % n), middle(Math.floor(i / n))];
    if (Math.hypot(x, y) > 1) return;
    const at = parts[partOf(x, y)];
    if (Math.abs(value) > Math.abs(at.value)) at.value = value;
  });
  found.neurons.forEach(([x, y]) => { parts[partOf(x, y)].neurons += 1; });
  const text = ({ value, neurons }) => `${shown(value, 2)} (${neurons})`;
  const rows = Array.from({ length: DIRECTIONS }, (_, d) => [
    `${360 / DIRECTIONS * d}°`, ...parts.slice(d * RINGS.length, (d + 1) * RINGS.length).map(text),
  ]);
  const [first, second] = data.picture.names;
  return {
    caption: "The disc in parts: the value farthest from zero in each, relative to the largest, and the number of neurons. "
      + `Directions turn from ${first} (0°) to ${second} (90°).`,
    heads: ["direction", ...RINGS.map((ring) => `lines ${ring}`)], rows,
  };
}
