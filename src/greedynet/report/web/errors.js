// Prediction errors: residuals, or confusion matrix and calibration.

function errorsSection() {
  reveal("errors");
  const errors = data.errors;
  byId("errors-text").textContent = rowsNote();
  const add = (title, draw, list) => {
    const box = element("div", { class: "picture" });
    byId("errors-pictures").append(element("div", {}, element("h3", {}, title), box));
    picture(box, draw)();
    tableBehind(box, title.toLowerCase(), list);
  };
  if (errors.kind === "residuals") {
    add("Residuals against predictions", (width) => residualsPicture(errors, width), () => residualsTable(errors));
    const bins = histogram(errors.residual);
    add("Distribution of the residuals", (width) => histogramPicture(bins, width), () => histogramTable(bins));
    return;
  }
  if (data.picture.kind !== "confusion") {
    byId("errors-pictures").append(element("div", {}, element("h3", {}, "Confusion matrix"), confusionTable(data.classes, errors.counts)));
  }
  byId("errors-text").textContent += " Calibration: dots on the line are right as often as the network says; larger dots stand for more rows.";
  add("Calibration", (width) => calibrationPicture(errors.calibration, width),
    () => calibrationTable(errors.calibration));
}

function span(values) {
  const low = Math.min(...values), high = Math.max(...values), margin = 0.05 * (high - low) || 1;
  return { low: low - margin, high: high + margin };
}

function residualsPicture(errors, width) {
  const frame = chart({
    width, height: 280, label: "Residuals (actual minus predicted) against predictions; of a good fit they scatter evenly about zero",
    x: { ...span(errors.found), name: `predicted ${data.target}` }, y: { ...span(errors.residual), name: "residual" },
  });
  frame.inner.append(shape("line", { class: "line faint", x1: 0, x2: frame.w, y1: frame.up(0), y2: frame.up(0) }));
  errors.found.forEach((found, i) => frame.inner.append(
    shape("circle", { class: "dot-blue", cx: frame.across(found), cy: frame.up(errors.residual[i]), r: 2.5 })));
  return frame.outer;
}

function residualsTable({ found, residual }) {
  const groups = groupsBy(found), heads = [`predicted ${data.target}`, "residual", "residual, root mean square", "rows"];
  const rows = groups.map((group) => {
    const here = group.map((i) => residual[i]);
    return [mean(group.map((i) => found[i])), shown(mean(here), 3), shown(rootMeanSquare(here), 3), group.length];
  });
  return { caption: `${groupsNote(groups, found.length, `predicted ${data.target}`)}.`, heads, rows };
}

// Counts of values in bins of equal width.
function histogram(values) {
  const { low, high } = span(values), n = Math.max(5, Math.min(40, Math.round(Math.sqrt(values.length))));
  const counts = new Array(n).fill(0);
  values.forEach((value) => { counts[Math.min(n - 1, Math.floor((value - low) / (high - low) * n))] += 1; });
  return { low, high, counts };
}

function histogramPicture({ low, high, counts }, width) {
  const n = counts.length;
  const frame = chart({
    width, height: 280, label: "Histogram of the residuals", x: { low, high, name: "residual" }, y: { low: 0, high: 1.05 * Math.max(...counts), name: "rows" },
  });
  counts.forEach((count, i) => frame.inner.append(shape("rect", {
    class: "bin", x: frame.w * i / n + 0.5, width: Math.max(1, frame.w / n - 1), y: frame.up(count), height: frame.h - frame.up(count) })));
  return frame.outer;
}

function histogramTable({ low, high, counts }) {
  const edge = (i) => shown(low + (high - low) * i / counts.length, 3);
  const rows = counts.map((count, i) => [`${edge(i)} to ${edge(i + 1)}`, count]);
  return { caption: "Number of rows by residual.", heads: ["residual", "rows"], rows };
}

function calibrationPicture(groups, width) {
  const frame = chart({
    width, height: 280, label: "Fraction of correct predictions against the probability of the predicted class; on the diagonal the two are equal",
    x: { low: 0, high: 1.06, name: "probability of the predicted class" }, y: { low: 0, high: 1.06, name: "fraction correct" },
  });
  frame.inner.append(shape("line", { class: "line faint", x1: 0, x2: frame.across(1), y1: frame.up(0), y2: frame.up(1) }));
  const most = Math.max(...groups.map((group) => group.rows));
  for (const group of groups) {
    const dot = shape("circle", { class: "solid-blue", cx: frame.across(group.confidence), cy: frame.up(group.accuracy), r: 3 + 7 * Math.sqrt(group.rows / most) });
    dot.append(shape("title", {}, `${group.rows} rows: ${shown(100 * group.confidence, 3)} % confidence, ${shown(100 * group.accuracy, 3)} % correct`));
    frame.inner.append(dot);
  }
  return frame.outer;
}

function calibrationTable(groups) {
  const rows = groups.map((group) => [`${shown(100 * group.confidence, 3)} %`, `${shown(100 * group.accuracy, 3)} %`, group.rows]);
  return { caption: "Rows grouped by the probability of the predicted class.", heads: ["probability", "correct", "rows"], rows };
}
