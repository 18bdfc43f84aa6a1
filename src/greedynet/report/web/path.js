// The errors along the path.

function pathPicture(growth, stopNow) {
  const { nodes, training, heldOut, stops } = growth, kept = stops[growth.kept];
  const errors = [...training, ...(heldOut || [])].filter((e) => e > 0);
  if (!errors.length) errors.push(1); // no positive value to draw
  const wide = Math.max(nodes[nodes.length - 1], nodes[0] + 1);
  const dotted = nodes.length <= stops.length; // every width is a stop
  return picture(byId("path"), (width) => {
    const margin = 8 / Math.max(100, width - 80) * (wide - nodes[0]); // room for half a dot
    const frame = chart({
      width, height: Math.min(300, 0.25 * width + 170),
      label: `${growth.errorName} against nodes: training falls from ${shown(training[0], 3)} to ${shown(training[nodes.length - 1], 3)}`,
      x: { low: nodes[0] - margin, high: wide + margin, name: "nodes", whole: true },
      y: { low: 0.8 * Math.min(...errors), high: 1.25 * Math.max(...errors), log: true, name: growth.errorName },
    });
    const dot = (at, values, kind, r) => {
      if (values[at] > 0) frame.inner.append(shape("circle", { class: kind, cx: frame.across(nodes[at]), cy: frame.up(values[at]), r }));
    };
    const upright = (at, kind) => {
      const x = frame.across(nodes[at]);
      frame.inner.append(shape("line", { class: kind, x1: x, x2: x, y1: 0, y2: frame.h }));
    };
    const now = stops[stopNow()];
    upright(kept, "chosen");
    if (now !== kept) upright(now, "now");
    for (const [values, colour] of [[training, "blue"], [heldOut, "red"]]) {
      if (!values) continue;
      const ys = values.map((value) => (value > 0 ? frame.up(value) : NaN));
      frame.inner.append(shape("path", { class: `line ${colour}`, d: trace(nodes.map(frame.across), ys) }));
      if (dotted) nodes.forEach((_, at) => dot(at, values, `solid-${colour} width`, 2.5));
      if (now !== kept) dot(now, values, `solid-${colour} ringed now-dot`, 4);
    }
    dot(kept, heldOut || training, `solid-${heldOut ? "red" : "blue"} ringed kept`, 6);
    return frame.outer;
  });
}

function pathSection(growth) {
  byId("path-part").hidden = false;
  const relative = "Relative error: that of the network divided by that of the mean.";
  const loss = "Log-loss: the mean of -log p, where p is the predicted probability of the true class.";
  byId("path-text").textContent = [growth.text, data.classes ? loss : relative].join(" ");
  const legend = [entry(lineMark("blue"), "training rows")];
  if (growth.heldOut) legend.push(entry(lineMark("red"), "held-out rows"));
  legend.push(entry(dotMark({ class: growth.heldOut ? "solid-red" : "solid-blue" }), "the network that was kept"));
  byId("path-legend").replaceChildren(...legend);
  let stop = 0;
  const paint = pathPicture(growth, () => stop);
  const list = tableBehind(byId("status").parentElement, `${growth.errorName} against nodes`, () => pathTable(growth, stop));
  return (at) => { stop = at; paint(); list(); };
}

// What each size costs: a row for each stop of the slider.
function pathTable(growth, now) {
  const { nodes, heldOut, stops, errorName } = growth, kept = stops[growth.kept];
  const heads = ["nodes", "training rows"];
  if (heldOut) heads.push("held-out rows", "relative to the one kept");
  if (data.rowScores) heads.push(`${data.rowScores.name}, rows shown`);
  const rows = stops.map((at, i) => {
    const here = atStop(i);
    const cells = [`${here.nodes}${here.kept ? ", kept" : ""}`, here.training];
    if (heldOut) cells.push(here.heldOut, heldOut[kept] > 0 ? (heldOut[at] / heldOut[kept]).toFixed(2) : null);
    return data.rowScores ? [...cells, data.rowScores.values[i]] : cells;
  });
  const widths = stops.length < nodes.length ? `${stops.length} of the ${nodes.length} widths that were tried` : "every width that was tried";
  return { caption: `The ${errorName} at ${widths}.`, heads, rows, now };
}
