// One input: the network as a function of it, at the width selected by the slider.

function places(count) {
  const [low, high] = data.picture.x;
  return Array.from({ length: count }, (_, i) => low + (high - low) * i / (count - 1));
}

// A value of the single input.
function shownInput(value, digits = 4) {
  return areYears(...data.picture.x) ? shownYear(value) : shown(value, digits);
}

// Numbers: the curve.
function curvePicture(box) {
  const found = data.picture, values = unpacked(found.values), xs = places(found.values.shape[1]);
  const [low, high] = found.x, band = found.intervals && unpacked(found.intervals.ends);
  let stop = 0;
  const paint = picture(box, (width) => {
    const frame = chart({
      width, height: Math.min(420, 0.35 * width + 190), label: `The network as a function of ${found.names[0]}, at the width selected by the slider`,
      x: { low, high, name: found.names[0] }, y: { low: found.y[0], high: found.y[1], name: data.target },
    });
    if (found.rows) {
      found.rows.x.forEach((x, i) => frame.inner.append(
        shape("circle", { class: "dot", cx: frame.across(x), cy: frame.up(found.rows.y[i]), r: 2.5 })));
    }
    for (const [a, b] of kinksAt(stop)) {
      const at = frame.across(-b / a);
      frame.inner.append(shape("line", { class: "kink optional", x1: at, x2: at, y1: frame.h - 12, y2: frame.h }));
    }
    if (band && stop === keptStop()) {
      const [lower, upper] = [0, 1].map((end) => Array.from(part(band, found.intervals.ends, end), frame.up));
      const around = [...xs, ...xs.toReversed()].map(frame.across);
      frame.inner.append(shape("path", { class: "band", d: `${trace(around, [...lower, ...upper.toReversed()])}Z` }));
    }
    const ys = Array.from(part(values, found.values, stop), frame.up);
    frame.inner.append(shape("path", { class: "line red approximation", d: trace(xs.map(frame.across), ys) }));
    return frame.outer;
  });
  const legend = [entry(lineMark("red"), "the network")];
  if (band) legend.push(entry(shape("rect", { class: "band", width: 16, height: 12 }), `${found.intervals.name}, network kept`));
  if (found.rows) legend.push(entry(dotMark({ class: "dot" }), data.rows.label));
  if (found.kinks) legend.push(switched(box, entry(lineMark("kink"), `Kinks, ${KINK_TEXT}`)));
  const list = tableBehind(box, "the approximation", () => curveTable(part(values, found.values, stop), xs, stop));
  return { title: "The approximation", legend, text: "", show: (at) => { stop = at; paint(); list(); } };
}

function curveTable(here, xs, stop) {
  const { names, rows, kinks, values, intervals } = data.picture;
  const chosen = spread(xs.length), at = chosen.map((i) => xs[i]);
  const lines = chosen.map((i) => [shownInput(xs[i]), shownPacked(here[i], values)]);
  const heads = [names[0], "the network"];
  if (rows) {
    heads.push("mean of the rows nearby", "rows nearby");
    nearest(rows.x, at).forEach((near, i) => lines[i].push(mean(near.map((row) => rows.y[row])), near.length));
  }
  if (kinks) {
    heads.push("kinks nearby");
    nearest(kinksAt(stop).map(([a, b]) => -b / a), at).forEach((near, i) => lines[i].push(near.length));
  }
  if (intervals && stop === keptStop()) {
    const ends = unpacked(intervals.ends);
    heads.push("lower end", "upper end");
    chosen.forEach((i, k) => lines[k].push(shownPacked(ends[i], values), shownPacked(ends[xs.length + i], values)));
  }
  const caption = `${data.target} at ${chosen.length} of the curve's ${xs.length} points: ${stopName(stop)}.${clippedNote(here, values)}`;
  return { caption, heads, rows: lines };
}

// Classes: the probability of each.
function probabilityPicture(box) {
  const found = data.picture, values = unpacked(found.values), [, n, k] = found.values.shape, xs = places(n);
  const [low, high] = found.x;
  let stop = 0;
  const paint = picture(box, (width) => {
    const frame = chart({
      width, height: Math.min(380, 0.3 * width + 180), label: `Probability of each class as a function of ${found.names[0]}, at the width selected by the slider`,
      x: { low, high, name: found.names[0] }, y: { low: -0.02, high: 1.02, name: "probability" },
    });
    const p = part(values, found.values, stop);
    for (let c = 0; c < k; c++) {
      const ys = xs.map((_, i) => frame.up(p[i * k + c]));
      frame.inner.append(shape("path", { class: "line approximation", stroke: CLASSES[c], d: trace(xs.map(frame.across), ys) }));
    }
    if (found.rows) {
      found.rows.x.forEach((x, i) => frame.inner.append(shape("line", {
        stroke: CLASSES[found.rows.at[i]], "stroke-opacity": 0.5, x1: frame.across(x), x2: frame.across(x), y1: frame.h - 9, y2: frame.h })));
    }
    return frame.outer;
  });
  const text = found.rows ? "Ticks along the bottom mark the rows, in the colour of their class." : "";
  const list = tableBehind(box, "the probability of each class", () => probabilityTable(part(values, found.values, stop), xs, stop));
  return { title: "The probability of each class", legend: classLegend(), text, show: (at) => { stop = at; paint(); list(); } };
}

function probabilityTable(p, xs, stop) {
  const { names, rows, values } = data.picture, k = data.classes.length;
  const chosen = spread(xs.length);
  const lines = chosen.map((i) => [shownInput(xs[i]), ...data.classes.map((_, c) => shownPacked(p[i * k + c], values))]);
  const heads = [names[0], ...data.classes];
  if (rows) {
    heads.push("rows nearby");
    nearest(rows.x, chosen.map((i) => xs[i])).forEach((near, i) => lines[i].push(classCounts(near.map((row) => rows.at[row]))));
  }
  return { caption: `Probability of each class at ${chosen.length} of the curve's ${xs.length} points: ${stopName(stop)}.`, heads, rows: lines };
}
