"use strict";
// Drawing: elements, numbers, scales, axes. Text always goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat());
  return node;
}

function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function shape(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

// Numbers

function shown(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) {
    const [front, power] = value.toExponential(digits - 1).split("e");
    return `${Number(front)}e${Number(power)}`;
  }
  return String(Number(value.toPrecision(digits)));
}

function short(text, letters) {
  return text.length > letters ? text.slice(0, letters - 1) + "…" : text;
}

// Numbers that were packed: whole numbers of 8 or 16 bits in base 64, between `low` and `high`.
function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed.data), (letter) => letter.charCodeAt(0));
  const whole = packed.bits === 8 ? bytes : new Uint16Array(bytes.buffer);
  if (packed.low === undefined) return whole;
  const step = (packed.high - packed.low) / (2 ** packed.bits - 1);
  return Float64Array.from(whole, (value) => packed.low + step * value);
}

// The part of an array of shape (n, ...) that belongs to its first index.
function part(values, packed, index) {
  const size = packed.shape.slice(1).reduce((product, n) => product * n, 1);
  return values.subarray(index * size, (index + 1) * size);
}

// Scales and ticks

function scale(low, high, from, to, log = false) {
  const place = log ? Math.log10 : (value) => value;
  const start = place(low);
  const factor = (to - from) / (place(high) - start || 1);
  return (value) => from + (place(value) - start) * factor;
}

function ticks(low, high, count, whole = false) {
  const raw = Math.max(whole ? 1 : 0, (high - low) / Math.max(1, count));
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) || 10);
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

// A picture that is drawn anew when its box gets another width; returns what draws it.
function picture(box, draw) {
  let width = 0;
  const paint = () => {
    width = box.clientWidth;
    if (width > 0) box.replaceChildren(draw(width));
  };
  new ResizeObserver(() => { if (box.clientWidth !== width) paint(); }).observe(box);
  return paint;
}

// Axes with ticks and names around an inner picture, which clips what leaves it.
// axis: {low, high, log, whole, name, ticks: [[value, text], ...]}
function chart({ width, height, x, y, label, grid = true }) {
  const room = width < 300 ? 40 : 70;
  const marks = (axis, count) => axis.ticks
    || (axis.log ? logTicks(axis.low, axis.high) : ticks(axis.low, axis.high, count, axis.whole))
      .map((value) => [value, shown(value)]);
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
  for (const [value, text] of marks(x, w / room)) {
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

// Colours

const FROM_DARK = ["#081d58", "#253494", "#225ea8", "#1d91c0", "#41b6c4", "#7fcdbb", "#c7e9b4", "#edf8b1", "#ffffd9"];
const BLUE_TO_RED = ["#053061", "#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f7f7f7", "#fddbc7", "#f4a582", "#d6604d", "#b2182b", "#67001f"];
const CLASSES = ["#d1495b", "#2f6fa8", "#d39a1c", "#3b9c7a", "#8d62b3", "#7fbce6", "#96695a", "#d977b4", "#6d7788", "#1ba3a3", "#9aa82e", "#9098a6"];

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function mixed(from, to, share) {
  return from.map((value, i) => Math.round(value + (to[i] - value) * share));
}

// The colour of a share between 0 and 1.
function colour(map, share) {
  const place = Math.min(1, Math.max(0, share)) * (map.length - 1);
  const at = Math.min(map.length - 2, Math.floor(place));
  return mixed(rgb(map[at]), rgb(map[at + 1]), place - at);
}

// The colours for values between two limits: symmetric about zero where the sign changes.
function colours(low, high) {
  const signed = low < 0 && high > 0;
  const [from, to] = signed ? [-Math.max(-low, high), Math.max(-low, high)] : [low, high];
  const map = signed ? BLUE_TO_RED : FROM_DARK;
  return { low: from, high: to, of: (value) => colour(map, (value - from) / (to - from || 1)) };
}

// An image of columns x rows pixels, the first row below, as a shape that fills w x h.
function image(columns, rows, pixel, w, h) {
  const canvas = element("canvas", { width: columns, height: rows });
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(columns, rows);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const at = 4 * ((rows - 1 - row) * columns + column);
      const found = pixel(row * columns + column, column, row);
      if (!found) continue;
      pixels.data.set(found, at);
      pixels.data[at + 3] = 255;
    }
  }
  context.putImageData(pixels, 0, 0);
  return shape("image", { href: canvas.toDataURL(), width: w, height: h, preserveAspectRatio: "none" });
}

function css(triple) {
  return `rgb(${triple.join(",")})`;
}

// A line of the legend: a mark and its name.
function entry(mark, text) {
  const icon = shape("svg", { width: 16, height: 12, "aria-hidden": "true" }, mark);
  return element("li", {}, icon, text);
}

function lineMark(kind) {
  return shape("line", { class: `line ${kind}`, x1: 0, x2: 16, y1: 6, y2: 6 });
}

function dotMark(attributes) {
  return shape("circle", { cx: 8, cy: 6, r: 4, ...attributes });
}
