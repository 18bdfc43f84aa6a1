// What a network of two layers makes of each column: the curves of its first layer.

function columnsSection() {
  const { columns, left, straight, neurons, isSum } = data.columns;
  reveal("columns");
  byId("columns-text").textContent = [columnsText(columns, neurons, isSum), ...columnsNotes(left, straight)].join(" ");
  byId("columns-legend").replaceChildren(...columnsLegend(columns, neurons));
  columns.forEach(columnPicture);
}

function columnsText(columns, neurons, isSum) {
  const made = `In the first layer, each column becomes ${neurons ? "curves" : "a curve"}, drawn here in units of ${data.target} and shifted to a mean of zero:`;
  if (!neurons) return `${made} the prediction is their sum and a constant.`;
  const direct = columns.some((column) => column.direct) ? "the thick one is added to the prediction directly; " : "";
  const added = isSum ? "adds while it is active" : "passes on through its activation";
  return `${made} ${direct}a thin one is what a neuron sees of the column, which it ${added}.`;
}

function columnsNotes(left, straight) {
  const notes = [];
  if (left) notes.push(`${left} ${left === 1 ? "column" : "columns"} with smaller curves ${left === 1 ? "is" : "are"} not shown.`);
  if (straight) notes.push(`${straight} ${straight === 1 ? "input enters" : "inputs enter"} as ${straight === 1 ? "it is" : "they are"}, without a curve.`);
  return notes;
}

function columnsLegend(columns, neurons) {
  const lines = columns.some(({ direct }) => direct) ? [entry(lineMark("red"), "added directly")] : [];
  const most = Math.max(...columns.map((column) => column.neurons.length));
  if (neurons) lines.push(entry(lineMark("blue thin"), seenBy(most, neurons)));
  return [...lines, entry(lineMark("kink"), "knots, where the curves bend")];
}

function seenBy(most, neurons) {
  if (neurons === 1) return "seen by the neuron";
  return most < neurons ? `seen by neurons: the ${most} of ${neurons} that the column moves most` : `seen by the ${neurons} neurons`;
}

function columnPicture(column) {
  const { name, knots, direct, through } = column, [low, high] = data.columns.y;
  const x = { low: knots[0], high: knots[knots.length - 1] };
  // More ticks than in other charts of this height: zero alone is no scale.
  const y = { low, high, ticks: ticks(low, high, 4).map((value) => [value, shown(value, 6)]) };
  const box = element("div", { class: "picture" });
  byId("columns-pictures").append(element("div", {}, element("h3", {}, name), box));
  const paint = picture(box, (width) => {
    const frame = chart({ width, height: 160, x, y, label: `What it makes of ${name}` });
    const draw = (values, kind) => frame.inner.append(shape("path", { class: `line column ${kind}`, d: trace(knots.map(frame.across), values.map(frame.up)) }));
    for (const knot of knots.slice(1, -1)) {
      frame.inner.append(shape("line", { class: "kink", x1: frame.across(knot), x2: frame.across(knot), y1: frame.h - 8, y2: frame.h }));
    }
    through.forEach((values) => draw(values, "blue thin"));
    if (direct) draw(direct, "red");
    return frame.outer;
  });
  tableBehind(box, `what it makes of ${name}`, () => columnTable(column));
  paint();
}

function columnTable({ name, knots, direct, neurons, through }) {
  const heads = [name, ...(direct ? ["added directly"] : []), ...neurons.map((n) => `seen by neuron ${n}`)];
  const axis = { low: knots[0], high: knots[knots.length - 1] };
  const rows = knots.map((knot, i) => [shownTick(knot, axis), ...(direct ? [direct[i]] : []), ...through.map((values) => values[i])]);
  return { caption: `The curves of ${name} at its knots and ends; they are straight in between.`, heads, rows };
}
