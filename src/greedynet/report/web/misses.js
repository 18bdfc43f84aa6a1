// Where the network misses.

function missesSection() {
  reveal("misses");
  const misses = data.misses;
  byId("misses-text").textContent = rowsNote();
  const add = (title, draw, list) => {
    const box = element("div", { class: "picture" });
    byId("misses-pictures").append(element("div", {}, element("h3", {}, title), box));
    picture(box, draw)();
    tableBehind(box, title.toLowerCase(), list);
  };
  if (misses.kind === "residuals") {
    add("Actual minus predicted", (width) => residualsPicture(misses, width), () => residualsTable(misses));
    const bins = histogram(misses.miss);
    add("How often", (width) => histogramPicture(bins, width), () => histogramTable(bins));
    return;
  }
  if (data.picture.kind !== "confusion") {
    byId("misses-pictures").append(element("div", {}, element("h3", {}, "Which class is taken for which"), confusionTable(data.classes, misses.counts)));
  }
  add("How sure it is, and how often right", (width) => calibrationPicture(misses.calibration, width),
    () => calibrationTable(misses.calibration));
}

function span(values) {
  const low = Math.min(...values), high = Math.max(...values), margin = 0.05 * (high - low) || 1;
  return { low: low - margin, high: high + margin };
}

function residualsPicture(misses, width) {
  const frame = chart({
    width, height: 280, label: "Residuals against predictions; good ones scatter evenly about zero",
    x: { ...span(misses.found), name: `predicted ${data.target}` }, y: { ...span(misses.miss), name: "residual" },
  });
  frame.inner.append(shape("line", { class: "line faint", x1: 0, x2: frame.w, y1: frame.up(0), y2: frame.up(0) }));
  misses.found.forEach((found, i) => frame.inner.append(
    shape("circle", { class: "dot-blue", cx: frame.across(found), cy: frame.up(misses.miss[i]), r: 2.5 })));
  return frame.outer;
}

function residualsTable({ found, miss }) {
  const groups = groupsBy(found), heads = [`predicted ${data.target}`, "residual", "residual, root mean square", "rows"];
  const rows = groups.map((group) => {
    const misses = group.map((i) => miss[i]);
    return [mean(group.map((i) => found[i])), shown(mean(misses), 3), shown(rootMeanSquare(misses), 3), group.length];
  });
  return { caption: `${groupsNote(groups, found.length, `predicted ${data.target}`)}, of the finished network.`, heads, rows };
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
  return { caption: "How many rows have which residual.", heads: ["residual", "rows"], rows };
}

function calibrationPicture(groups, width) {
  const frame = chart({
    width, height: 280, label: "How often the network is right against how sure it is; on the diagonal the two are equal",
    x: { low: 0, high: 1.06, name: "probability of the class named" }, y: { low: 0, high: 1.06, name: "share that is right" },
  });
  frame.inner.append(shape("line", { class: "line faint", x1: 0, x2: frame.across(1), y1: frame.up(0), y2: frame.up(1) }));
  const most = Math.max(...groups.map((group) => group.rows));
  for (const group of groups) {
    const dot = shape("circle", { class: "solid-blue", cx: frame.across(group.sure), cy: frame.up(group.right), r: 3 + 7 * Math.sqrt(group.rows / most) });
    dot.append(shape("title", {}, `${group.rows} rows: ${shown(100 * group.sure, 3)} % sure, ${shown(100 * group.right, 3)} % right`));
    frame.inner.append(dot);
  }
  return frame.outer;
}

function calibrationTable(groups) {
  const rows = groups.map((group) => [`${shown(100 * group.sure, 3)} %`, `${shown(100 * group.right, 3)} %`, group.rows]);
  return { caption: "Rows in groups by how sure the network is.", heads: ["sure", "right", "rows"], rows };
}
