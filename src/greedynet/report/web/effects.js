// The effect of each input.

function effectsSection() {
  byId("effects-part").hidden = false;
  byId("effects-text").textContent = "The mean prediction over the rows with one input set to each value in turn (partial dependence), "
    + "at the width selected by the slider. The most important inputs come first.";
  let stop = 0, chosen = data.classes ? Math.min(1, data.classes.length - 1) : 0, axis = effectAxis(chosen);
  const paints = data.effects.map((effect) => effectPicture(effect, () => ({ stop, chosen, axis })));
  const show = (at) => { stop = at; paints.forEach((paint) => paint()); };
  if (data.classes) {
    byId("effects-class").hidden = false;
    byId("effects-text").textContent = byId("effects-text").textContent.replace("mean prediction", "mean probability of a class");
    const select = byId("class");
    select.append(...data.classes.map((name, c) => element("option", { value: c }, name)));
    select.value = String(chosen);
    select.addEventListener("change", () => { chosen = Number(select.value); axis = effectAxis(chosen); show(stop); });
  }
  return show;
}

// The range of the effects: one axis for all inputs, so that they can be compared.
function effectAxis(chosen) {
  if (!data.classes) return { low: data.effects[0].y[0], high: data.effects[0].y[1] };
  const kept = data.effects.flatMap((effect) => {
    const [, , k] = effect.values.shape;
    return Array.from(part(unpacked(effect.values), effect.values, keptStop())).filter((_, i) => i % k === chosen);
  });
  const low = Math.min(...kept), high = Math.max(...kept), room = Math.max(0.05, 0.15 - (high - low) / 2);
  return { low: Math.max(0, low - room), high: Math.min(1, high + room) };
}

// `now()` returns the stop, the class that is shown, and the axis of the effects.
function effectPicture(effect, now) {
  const box = element("div", { class: "picture" });
  byId("effects").append(element("div", {}, element("h4", {}, effect.name), box));
  const values = unpacked(effect.values), [, , k] = effect.values.shape;
  const here = () => Array.from(part(values, effect.values, now().stop)).filter((_, i) => i % k === now().chosen);
  const paint = picture(box, (width) => {
    const frame = chart({ width, height: 150, x: inputAxis(effect, width), y: now().axis, label: `Effect of ${effect.name}` });
    drawEffect(frame, effect, here());
    return frame.outer;
  });
  const list = tableBehind(box, `effect of ${effect.name}`, () => effectTable(effect, here(), now()));
  return () => { paint(); list(); };
}

function inputAxis({ x, levels }, width) {
  if (x) return x[0] === x[x.length - 1] ? { low: x[0] - 1, high: x[0] + 1 } : { low: x[0], high: x[x.length - 1] };
  const n = levels.length, letters = Math.max(2, Math.floor((width - 60) / n / 7));
  const every = Math.ceil(n / Math.max(1, (width - 60) / 30));
  const ticks = levels.map((name, i) => [i, short(name, letters * every)]).filter((_, i) => i % every === 0);
  return { low: -0.5, high: n - 0.5, ticks };
}

function drawEffect(frame, { x, levels }, here) {
  const ys = here.map(frame.up);
  if (x) {
    frame.inner.append(shape("path", { class: "line red effect", d: trace(x.map(frame.across), ys) }));
    return;
  }
  levels.forEach((name, i) => {
    const at = frame.across(i), dot = shape("circle", { class: "solid-red effect", cx: at, cy: ys[i], r: 4 });
    dot.append(shape("title", {}, `${name}: ${shown(here[i])}`));
    frame.inner.append(shape("line", { class: "gridline", x1: at, x2: at, y1: frame.h, y2: ys[i] }), dot);
  });
}

function effectTable({ name, x, levels, values }, here, { stop, chosen }) {
  const what = data.classes ? `mean probability of ${data.classes[chosen]}` : `mean ${data.target}`;
  const rows = (levels || x).map((place, i) => [place, shownPacked(here[i], values)]);
  const note = data.classes ? "" : clippedNote(here, values);
  return { caption: `The ${what} with ${name} set to each value: ${stopName(stop)}.${note}`, heads: [name, what], rows };
}
