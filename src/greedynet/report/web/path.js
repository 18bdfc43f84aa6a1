// The errors along the path.

function pathPicture(growth, stopNow) {
  const nodes = growth.nodes, done = growth.finished;
  const tried = growth.candidates || [];
  const errors = [...growth.training, ...(growth.score || []), ...tried.map(({ error }) => error), done.training, done.score].filter((e) => e > 0);
  if (!errors.length) errors.push(1); // no positive value to draw
  const wide = Math.max(nodes[nodes.length - 1], done.nodes, nodes[0] + 1, ...tried.map((one) => one.nodes));
  return picture(byId("path"), (width) => {
    const margin = 8 / Math.max(100, width - 80) * (wide - nodes[0]); // room for half a dot
    const frame = chart({
      width, height: Math.min(300, 0.25 * width + 170),
      label: `${growth.errorName} against nodes: training falls from ${shown(growth.training[0], 3)} to ${shown(growth.training[nodes.length - 1], 3)}`,
      x: { low: nodes[0] - margin, high: wide + margin, name: "nodes", whole: true },
      y: { low: 0.8 * Math.min(...errors), high: 1.25 * Math.max(...errors), log: true, name: growth.errorName },
    });
    const line = (values, kind) => {
      const ys = values.map((value) => (value > 0 ? frame.up(value) : NaN));
      frame.inner.append(shape("path", { class: `line ${kind}`, d: trace(nodes.map(frame.across), ys) }));
    };
    const dot = (x, value, kind, r) => {
      if (value > 0) frame.inner.append(shape("circle", { class: `${kind} ringed`, cx: frame.across(x), cy: frame.up(value), r }));
    };
    const chosen = frame.across(done.nodes);
    frame.inner.append(shape("line", { class: "chosen", x1: chosen, x2: chosen, y1: 0, y2: frame.h }));
    line(growth.training, "blue");
    if (growth.score) line(growth.score, "red");
    const single = tried.filter(({ kind }) => isSingle(kind));
    const ups = single.map(({ error }) => (error > 0 ? frame.up(error) : NaN));
    frame.inner.append(shape("path", { class: "line red", d: trace(single.map((one) => frame.across(one.nodes)), ups) }));
    for (const one of tried) {
      const mark = shape("circle", { class: "candidate", cx: frame.across(one.nodes), cy: frame.up(Math.max(one.error, 1e-300)), r: 4 });
      mark.append(shape("title", {}, `${one.kind}, ${one.nodes} nodes: ${shown(one.error, 3)} on ${growth.scoreName}`));
      frame.inner.append(mark);
    }
    dot(done.nodes, done.training, "solid-blue", 6);
    const at = tried.find(({ chosen }) => chosen);
    dot(at ? at.nodes : done.nodes, done.score, "solid-red", 6);
    const now = atStop(stopNow());
    if (!now.last) {
      const here = frame.across(now.nodes);
      frame.inner.append(shape("line", { class: "now", x1: here, x2: here, y1: 0, y2: frame.h }));
      dot(now.nodes, now.training, "solid-blue", 4);
      dot(now.nodes, now.score, "solid-red", 4);
    }
    return frame.outer;
  });
}

function pathSection(growth) {
  byId("path-part").hidden = false;
  const relative = "Relative error: that of the network divided by that of the mean.";
  const loss = "Log-loss: the mean of -log p, where p is the predicted probability of the true class.";
  const corrected = growth.finished.corrected ? ", whose neurons were corrected jointly" : "";
  const done = `The dotted line marks the finished network${corrected}: the last stop of the slider.`;
  byId("path-text").textContent = [data.classes ? loss : relative, growth.scoreText, done].join(" ");
  const legend = [entry(lineMark("blue"), growth.candidates ? "growth, training" : "training")];
  if (growth.score) legend.push(entry(lineMark("red"), growth.scoreName));
  if (growth.candidates) legend.push(entry(dotMark({ class: "candidate" }), `candidates, ${growth.scoreName}`));
  legend.push(entry(dotMark({ class: "solid-blue" }), "finished, training"));
  const name = `${growth.candidates ? "chosen" : "finished"}, ${growth.finished.scoreName}`;
  if (growth.finished.score !== null) legend.push(entry(dotMark({ class: "solid-red" }), name));
  byId("path-legend").replaceChildren(...legend);
  let stop = 0;
  const paint = pathPicture(growth, () => stop);
  const list = tableBehind(byId("status").parentElement, `${growth.errorName} against nodes`, () => pathTable(growth, stop));
  return (at) => { stop = at; paint(); list(); };
}

// A row for each stop of the slider.
function pathTable(growth, now) {
  const stops = Array.from({ length: growth.steps.length + 1 }, (_, i) => atStop(i));
  const scored = stops.some(({ score }) => score !== null);
  const rows = stops.map(({ nodes, training, score, last }, i) => [
    last ? `${nodes}, finished` : nodes, training, ...(scored ? [score] : []), ...(data.rowScores ? [data.rowScores.values[i]] : []),
  ]);
  const heads = ["nodes", "training", ...(scored ? [growth.finished.scoreName] : []), ...(data.rowScores ? [`${data.rowScores.name}, rows shown`] : [])];
  rows.push(...otherCandidates(growth, stops).map(({ nodes, kind, error }) => [
    `${nodes}, ${kind}`, null, error, ...(data.rowScores ? [null] : []),
  ]));
  const all = growth.nodes.length, some = growth.steps.length;
  const widths = some < all ? `${some} of the ${all} widths` : "every width";
  return { caption: `The ${growth.errorName} at ${widths}, and of the finished network.`, heads, rows, now };
}

// Candidates that are not among the stops: averages, levelled networks and wider ones.
function otherCandidates({ candidates }, stops) {
  return (candidates || []).filter(({ kind, nodes }) => !isSingle(kind) || !stops.some((stop) => !stop.last && stop.nodes === nodes));
}
