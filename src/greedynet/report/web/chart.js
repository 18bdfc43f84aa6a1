// Charts: scales, ticks, axes and lines, and when they are redrawn.

function scale(low, high, from, to, log = false) {
  const place = log ? Math.log10 : (value) => value;
  const start = place(low);
  const factor = (to - from) / (place(high) - start || 1);
  return (value) => from + (place(value) - start) * factor;
}

function ticks(low, high, count, whole = false) {
  const step = roundStep(Math.max(whole ? 1 : 0, (high - low) / Math.max(1, count)));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

function logTicks(low, high) {
  const found = [];
  const decades = Math.log10(high / low);
  const factors = decades > 2.5 ? [1] : decades > 1 ? [1, 3] : [1, 2, 3, 5, 7];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of factors) {
      const value = factor * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  }
  return decades > 6 ? found.filter((_, i) => i % 2 === 0) : found;
}

// A picture that is redrawn when the width of its box changes; returns the function that draws it.
function picture(box, draw) {
  let width = 0;
  const paint = () => {
    width = box.clientWidth;
    if (width > 0) box.replaceChildren(draw(width));
  };
  new ResizeObserver(() => { if (box.clientWidth !== width) paint(); }).observe(box);
  return paint;
}

// Axes with ticks and names around an inner picture, which clips its contents.
// axis: {low, high, log, whole, name, ticks: [[value, text], ...]}
function chart({ width, height, x, y, label, grid = true }) {
  const room = width < 400 ? 45 : 70;
  const marks = (axis, count) => axis.ticks
    || (axis.log ? logTicks(axis.low, axis.high) : ticks(axis.low, axis.high, count, axis.whole))
      .map((value) => [value, shownTick(value, axis)]);
  const yTicks = marks(y, height < 200 ? 3 : 5);
  const longest = Math.max(1, ...yTicks.map(([, text]) => text.length));
  const left = 12 + 7 * longest + (y.name ? 16 : 0);
  const [top, right, bottom] = [10, 14, x.name ? 40 : 24];
  const [w, h] = [Math.max(20, width - left - right), height - top - bottom];
  const across = scale(x.low, x.high, 0, w, x.log);
  const up = scale(y.low, y.high, h, 0, y.log);
  const inner = shape("svg", { class: "inner", x: left, y: top, width: w, height: h });
  const outer = shape("svg", { role: "img", "aria-label": label, width, height, viewBox: `0 0 ${width} ${height}` });
  for (const [value, text] of yTicks) {
    if (grid) outer.append(shape("line", { class: "gridline", x1: left, x2: left + w, y1: top + up(value), y2: top + up(value) }));
    outer.append(shape("text", { class: "y-tick", x: left - 7, y: top + up(value) + 4, "text-anchor": "end" }, text));
  }
  // Fewer ticks where their numbers are long, such as 1,005,000.
  const letters = Math.max(1, ...marks(x, w / room).map(([, text]) => text.length));
  for (const [value, text] of marks(x, w / Math.max(room, 7 * letters + 8))) {
    outer.append(shape("line", { class: "axis", x1: left + across(value), x2: left + across(value), y1: top + h, y2: top + h + 4 }));
    outer.append(shape("text", { class: "x-tick", x: left + across(value), y: top + h + 17, "text-anchor": "middle" }, text));
  }
  outer.append(inner, shape("path", { class: "axis", d: `M${left},${top}V${top + h}H${left + w}` }));
  if (x.name) outer.append(shape("text", { class: "name", x: left + w / 2, y: height - 4, "text-anchor": "middle" }, short(x.name, w / 7)));
  if (y.name) {
    const turned = `translate(12 ${top + h / 2}) rotate(-90)`;
    outer.append(shape("text", { class: "name", transform: turned, "text-anchor": "middle" }, short(y.name, h / 7)));
  }
  return { outer, inner, across, up, w, h };
}

function trace(xs, ys) {
  let path = "", pen = "M";
  for (let i = 0; i < xs.length; i++) {
    if (!Number.isFinite(xs[i]) || !Number.isFinite(ys[i])) { pen = "M"; continue; }
    path += `${pen}${xs[i].toFixed(2)},${ys[i].toFixed(2)}`;
    pen = "L";
  }
  return path;
}
