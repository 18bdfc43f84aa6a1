// The page: every section from its part of the data, and the slider that moves them.

const data = JSON.parse(byId("data").textContent);

function reveal(id) {
  byId(id).hidden = false;
  const link = document.querySelector(`nav a[href="#${id}"]`);
  if (link) link.parentElement.hidden = false;
}

function rowsNote() {
  const { all, shown: some, label } = data.rows;
  const count = (n) => n.toLocaleString("en");
  return some < all ? `A sample of ${count(some)} of the ${count(all)} ${label}, always the same.` : `All ${count(all)} ${label}.`;
}

// The errors along the path

function pathPicture(growth, stopNow) {
  const nodes = growth.nodes, done = growth.finished;
  const errors = [...growth.training, ...(growth.score || []), done.training, done.score].filter((e) => e > 0);
  if (!errors.length) errors.push(1); // nothing to see, on any axis
  const wide = Math.max(nodes[nodes.length - 1], done.nodes, nodes[0] + 1);
  return picture(byId("path"), (width) => {
    const frame = chart({
      width, height: Math.min(300, 0.25 * width + 170),
      label: `${growth.errorName} against nodes: training falls from ${shown(growth.training[0], 3)} to ${shown(growth.training[nodes.length - 1], 3)}`,
      x: { low: nodes[0] - 0.015 * (wide - nodes[0]), high: wide + 0.015 * (wide - nodes[0]), name: "nodes", whole: true },
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
    dot(done.nodes, done.training, "solid-blue", 6);
    dot(done.nodes, done.score, "solid-red", 6);
    const now = stopNow();
    if (now !== null) {
      const at = frame.across(nodes[now]);
      frame.inner.append(shape("line", { class: "now", x1: at, x2: at, y1: 0, y2: frame.h }));
      dot(nodes[now], growth.training[now], "solid-blue", 4);
      if (growth.score) dot(nodes[now], growth.score[now], "solid-red", 4);
    }
    return frame.outer;
  });
}

function pathSection(growth, stopNow) {
  byId("path-part").hidden = false;
  const relative = "The relative error is the size of the misses over the size of the target about its mean.";
  const loss = "The log-loss is the mean of -log of the probability given to the true class.";
  const done = growth.finished.corrected
    ? "The dotted line marks the finished network, whose neurons were corrected together after the growth: the last stop of the slider."
    : "The dotted line marks the width that was kept: the last stop of the slider.";
  byId("path-text").textContent = [data.classes ? loss : relative, growth.scoreText, done].join(" ");
  const legend = [entry(lineMark("blue"), "training")];
  if (growth.score) legend.push(entry(lineMark("red"), growth.scoreName));
  legend.push(entry(dotMark({ class: "solid-blue" }), "finished, training"));
  if (growth.finished.score !== null) legend.push(entry(dotMark({ class: "solid-red" }), `finished, ${growth.finished.scoreName}`));
  byId("path-legend").replaceChildren(...legend);
  return pathPicture(growth, stopNow);
}

// What is said of a stop

function told(stop) {
  const growth = data.growth, last = stop === growth.steps.length;
  const at = last ? growth.finished : null;
  const step = last ? null : growth.steps[stop];
  const nodes = last ? at.nodes : growth.nodes[step];
  const training = last ? at.training : growth.training[step];
  const score = last ? at.score : growth.score && growth.score[step];
  const parts = [];
  if (training !== null) parts.push(`${growth.errorName} ${shown(training, 3)} on the training rows`);
  if (score !== null && score !== undefined) parts.push(`${last ? at.scoreName : growth.scoreName} ${shown(score, 3)}`);
  if (data.rowScores) parts.push(`${data.rowScores.name} ${shown(data.rowScores.values[stop])} on the rows shown`);
  const name = `${nodes} ${nodes === 1 ? "node" : "nodes"}`;
  return { short: last ? `finished, ${name}` : name, long: `${last ? `The finished network, ${name}` : name}: ${parts.join(", ")}.` };
}

// Effects of the inputs

function effectsSection() {
  byId("effects-part").hidden = false;
  byId("effects-text").textContent = "The mean prediction over the rows with one input set to each value in turn (partial dependence), "
    + "at the width the slider names. The most important inputs come first.";
  let stop = 0, chosen = data.classes ? Math.min(1, data.classes.length - 1) : 0;
  const paints = data.effects.map((effect) => effectPicture(effect, () => stop, () => chosen, () => effectAxis(chosen)));
  const show = (at) => { stop = at; paints.forEach((paint) => paint()); };
  if (data.classes) {
    byId("effects-class").hidden = false;
    byId("effects-text").textContent = byId("effects-text").textContent.replace("mean prediction", "mean probability of a class");
    const select = byId("class");
    select.append(...data.classes.map((name, c) => element("option", { value: c }, name)));
    select.value = String(chosen);
    select.addEventListener("change", () => { chosen = Number(select.value); show(stop); });
  }
  return show;
}

// From where to where the effects go: one axis for all inputs, so that they can be compared.
function effectAxis(chosen) {
  if (!data.classes) return { low: data.effects[0].y[0], high: data.effects[0].y[1] };
  const last = data.effects.flatMap((effect) => {
    const [stops, , k] = effect.values.shape;
    return Array.from(part(unpacked(effect.values), effect.values, stops - 1)).filter((_, i) => i % k === chosen);
  });
  const low = Math.min(...last), high = Math.max(...last), room = Math.max(0.05, 0.15 - (high - low) / 2);
  return { low: Math.max(0, low - room), high: Math.min(1, high + room) };
}

function effectPicture(effect, stopNow, classNow, axisNow) {
  const box = element("div", { class: "picture" });
  byId("effects").append(element("div", {}, element("h4", {}, effect.name), box));
  const values = unpacked(effect.values), [, n, k] = effect.values.shape;
  const places = effect.x || effect.levels.map((_, i) => i);
  return picture(box, (width) => {
    const x = { low: places[0], high: places[n - 1] };
    if (effect.levels) {
      const letters = Math.max(2, Math.floor((width - 60) / n / 7));
      const every = Math.ceil(n / Math.max(1, (width - 60) / 30));
      Object.assign(x, { low: -0.5, high: n - 0.5 });
      x.ticks = effect.levels.map((name, i) => [i, short(name, letters * every)]).filter((_, i) => i % every === 0);
    } else if (x.low === x.high) {
      Object.assign(x, { low: x.low - 1, high: x.high + 1 });
    }
    const frame = chart({ width, height: 150, x, y: axisNow(), label: `Effect of ${effect.name}` });
    const here = part(values, effect.values, stopNow());
    const xs = places.map(frame.across), ys = places.map((_, i) => frame.up(here[i * k + classNow()]));
    if (effect.x) {
      frame.inner.append(shape("path", { class: "line red effect", d: trace(xs, ys) }));
    } else {
      xs.forEach((at, i) => {
        const dot = shape("circle", { class: "solid-red effect", cx: at, cy: ys[i], r: 4 });
        dot.append(shape("title", {}, `${effect.levels[i]}: ${shown(here[i * k + classNow()])}`));
        frame.inner.append(shape("line", { class: "gridline", x1: at, x2: at, y1: frame.h, y2: ys[i] }), dot);
      });
    }
    return frame.outer;
  });
}

// The section that the slider moves

function growthSection() {
  const growth = data.growth, last = growth ? growth.steps.length : 0;
  let stop = last;
  const shows = [];
  if (growth) {
    const paint = pathSection(growth, () => (stop === last ? null : growth.steps[stop]));
    shows.push(() => paint());
  }
  if (data.picture) {
    byId("picture-part").hidden = false;
    const made = PICTURES[data.picture.kind](data, byId("picture"));
    byId("picture-title").textContent = made.title;
    byId("picture-text").textContent = [made.text, data.rows ? rowsNote() : ""].join(" ").trim();
    byId("picture-legend").replaceChildren(...made.legend);
    shows.push(made.show);
  }
  if (data.effects) shows.push(effectsSection());
  if (!shows.length) return;
  reveal("growth");
  if (!growth) byId("growth-title").textContent = "What it does";
  const slider = byId("stop");
  const show = () => {
    shows.forEach((one) => one(stop));
    if (!growth) return;
    const words = told(stop);
    byId("told").textContent = words.long;
    slider.setAttribute("aria-valuetext", words.short);
  };
  if (growth) {
    slider.max = last;
    slider.value = last;
    slider.addEventListener("input", () => { stop = Number(slider.value); show(); });
    player(slider, last);
  }
  show();
}

function player(slider, last) {
  const button = byId("play"), calm = matchMedia("(prefers-reduced-motion: reduce)");
  let timer = null;
  const halt = () => {
    clearInterval(timer);
    timer = null;
    button.textContent = "Play";
    byId("told").setAttribute("aria-live", "polite");
  };
  const move = (to) => { slider.value = to; slider.dispatchEvent(new Event("input")); };
  button.addEventListener("click", () => {
    if (timer !== null) return halt();
    if (Number(slider.value) === last) move(0);
    button.textContent = "Pause";
    byId("told").setAttribute("aria-live", "off"); // not every step read out
    timer = setInterval(() => {
      move(Number(slider.value) + 1);
      if (Number(slider.value) >= last) halt();
    }, calm.matches ? 1200 : Math.max(60, Math.min(400, 10000 / last)));
  });
  slider.addEventListener("pointerdown", () => { if (timer !== null) halt(); });
  slider.addEventListener("keydown", () => { if (timer !== null) halt(); });
}

// The neurons

function neuronsSection() {
  const { names, rows, left, weightsLeft: hidden, firstWeight: first } = data.neurons;
  if (!rows.length) return;
  reveal("neurons");
  const where = names.includes("kink") ? "It bends at the kink" : "It bends where the weighted sum of its inputs equals the threshold";
  const notes = [`Each neuron adds its outer weight times its activation. ${where}.`];
  if (names.includes("active %")) notes.push("Active: the share of rows on its upper side.");
  notes.push("The largest come first; press a name to sort.");
  if (left) notes.push(`${left} neurons with smaller weights are left out.`);
  if (hidden) notes.push(`${hidden} inputs with smaller weights are left out.`);
  byId("neurons-text").textContent = notes.join(" ");
  const lines = rows.map((row) => ({ row, node: element("tr", {}, row.map((value, c) => (
    c === 0 ? element("th", { scope: "row" }, String(value)) : element("td", {}, shown(value))))) }));
  const body = element("tbody", {}, lines.map((line) => line.node));
  const heads = names.map((name, c) => {
    const text = c >= first ? `weight of ${name}` : name;
    const head = element("th", { scope: "col", "aria-sort": "none" }, element("button", { type: "button", title: text }, c >= first ? name : text));
    head.firstChild.addEventListener("click", () => sortBy(body, lines, heads, c));
    return head;
  });
  byId("neurons-table").append(element("caption", {}, `${rows.length} neurons of the finished network`), element("thead", {}, element("tr", {}, heads)), body);
}

// Rising at first, falling when pressed again; cells without a number come as the largest.
function sortBy(body, lines, heads, column) {
  const rising = heads[column].getAttribute("aria-sort") !== "ascending";
  heads.forEach((head, c) => head.setAttribute("aria-sort", c !== column ? "none" : rising ? "ascending" : "descending"));
  const key = (line) => line.row[column] ?? Number.MAX_VALUE;
  const sorted = [...lines].sort((one, other) => (rising ? key(one) - key(other) : key(other) - key(one)));
  body.append(...sorted.map((line) => line.node));
}

// Importance

function importanceSection() {
  const { columns, left, unit, repeats } = data.importance;
  reveal("importance");
  const more = left ? ` ${left} columns that matter less are left out.` : "";
  byId("importance-text").textContent = `How much the ${unit} of the finished network grows when a column's values are shuffled among `
    + `the rows, so that it says nothing: the mean of ${repeats} shuffles (permutation importance). ${rowsNote()}${more}`;
  const most = Math.max(...columns.map((column) => column.mean), 1e-300);
  const body = columns.map((column) => {
    const bar = element("div");
    bar.style.width = `${Math.max(0, 100 * column.mean / most)}%`;
    return element("tr", {}, element("th", { scope: "row", title: column.name }, column.name), element("td", {}, shown(column.mean, 3)), element("td", { class: "bar" }, bar));
  });
  const head = element("tr", {}, element("th", { scope: "col" }, "column"), element("th", { scope: "col" }, `${unit} grows by`), element("td"));
  byId("importance-table").append(element("caption", {}, "Importance of the columns"), element("thead", {}, head), element("tbody", {}, body));
}

// Misses

function missesSection() {
  reveal("misses");
  const misses = data.misses;
  byId("misses-text").textContent = rowsNote();
  const add = (title, draw) => {
    const box = element("div", { class: "picture" });
    byId("misses-pictures").append(element("div", {}, element("h3", {}, title), box));
    picture(box, draw)();
  };
  if (misses.kind === "residuals") {
    add("Actual minus predicted", (width) => residualsPicture(misses, width));
    add("How often", (width) => histogram(misses.miss, width));
    return;
  }
  if (data.picture.kind !== "confusion") {
    byId("misses-pictures").append(element("div", {}, element("h3", {}, "Which class is taken for which"), confusionTable(data.classes, misses.counts)));
  }
  add("How sure it is, and how often right", (width) => calibrationPicture(misses.calibration, width));
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

function histogram(values, width) {
  const { low, high } = span(values), n = Math.max(5, Math.min(40, Math.round(Math.sqrt(values.length))));
  const counts = new Array(n).fill(0);
  values.forEach((value) => { counts[Math.min(n - 1, Math.floor((value - low) / (high - low) * n))] += 1; });
  const frame = chart({
    width, height: 280, label: "Histogram of the residuals", x: { low, high, name: "residual" }, y: { low: 0, high: 1.05 * Math.max(...counts), name: "rows" },
  });
  counts.forEach((count, i) => frame.inner.append(shape("rect", {
    class: "bin", x: frame.w * i / n + 0.5, width: Math.max(1, frame.w / n - 1), y: frame.up(count), height: frame.h - frame.up(count) })));
  return frame.outer;
}

function calibrationPicture(groups, width) {
  const frame = chart({
    width, height: 280, label: "How often the network is right against how sure it is; on the diagonal the two are equal",
    x: { low: 0, high: 1.02, name: "probability of the class named" }, y: { low: 0, high: 1.05, name: "share that is right" },
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

// Ridgelets

function ridgeletsSection() {
  reveal("ridgelets");
  const found = data.ridgelets;
  const common = "The collapsed ridgelet transform of the rows: far from zero where a neuron with this kink would say much about the target. "
    + "The inputs are scaled to [-1, 1], and an affine function, which takes no neurons, is taken off. "
    + "The edges of the data show too, as bends. ";
  if (found.kind === "circle") {
    byId("ridgelets-text").textContent = common + "Below, the kinks of the finished network.";
    picture(byId("ridgelets-picture"), (width) => ridgeletCurve(found, width))();
  } else {
    byId("ridgelets-text").textContent = common + "Each point of the disc is a straight line across the two inputs: its direction says where the line "
      + "lies, the centre stands for lines far away, the edge for lines through the middle. Points are the neurons of the finished network.";
    picture(byId("ridgelets-picture"), (width) => ridgeletDisc(found, width))();
  }
}

function ridgeletCurve(found, width) {
  const n = found.values.length - 1, most = 1.1 * Math.max(...found.values.map(Math.abs)) || 1;
  const low = Math.min(...found.values) < 0 ? -most : 0;
  // (a, b) = (sin, cos) of the angle: the kink -b / a = -cot lies at -1, 0 and 1 in the scaled input.
  const angles = [Math.PI / 4, Math.PI / 2, 3 * Math.PI / 4];
  const frame = chart({
    width, height: 260, label: "Collapsed ridgelet transform over the position of the kink",
    x: { low: 0, high: Math.PI, name: `kink, in ${data.picture.names[0]}`, ticks: angles.map((angle, i) => [angle, shown(found.kinks[i], 3)]) },
    y: { low, high: most, name: "transform" },
  });
  frame.inner.append(shape("line", { class: "line faint", x1: 0, x2: frame.w, y1: frame.up(0), y2: frame.up(0) }));
  const xs = found.values.map((_, i) => frame.across(Math.PI * i / n));
  frame.inner.append(shape("path", { class: "line blue", d: trace(xs, found.values.map(frame.up)) }));
  for (const angle of found.neurons) {
    frame.inner.append(shape("line", { class: "kink", x1: frame.across(angle), x2: frame.across(angle), y1: frame.h - 12, y2: frame.h }));
  }
  return frame.outer;
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
    outer.append(shape("circle", { class: "neuron", cx: side / 2 + r * x, cy: side / 2 - r * y, r: 3.5 }));
  }
  const [first, second] = data.picture.names;
  outer.append(shape("text", { class: "name", x: side / 2, y: 16, "text-anchor": "middle" }, `${short(second, 20)} ↑`));
  outer.append(shape("text", { class: "name", x: side - 4, y: side - 6, "text-anchor": "end" }, `${short(first, 20)} →`));
  return outer;
}

// Code

function copyButtons() {
  document.querySelectorAll(".code").forEach((box) => {
    const button = element("button", { type: "button" }, "Copy");
    const told = element("span", { class: "copied", role: "status" });
    button.addEventListener("click", async () => {
      const text = box.querySelector("code").textContent;
      try {
        await navigator.clipboard.writeText(text);
        told.textContent = " Copied.";
      } catch {
        getSelection().selectAllChildren(box.querySelector("code"));
        told.textContent = " Selected: press Ctrl+C.";
      }
    });
    box.append(button, told);
  });
}

growthSection();
neuronsSection();
if (data.importance) importanceSection();
if (data.misses) missesSection();
if (data.ridgelets) ridgeletsSection();
copyButtons();
