// Colours of values and classes, and images made of them.

const FROM_DARK = ["#081d58", "#253494", "#225ea8", "#1d91c0", "#41b6c4", "#7fcdbb", "#c7e9b4", "#edf8b1", "#ffffd9"];
const BLUE_TO_RED = ["#053061", "#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f7f7f7", "#fddbc7", "#f4a582", "#d6604d", "#b2182b", "#67001f"];
const CLASSES = ["#d1495b", "#2f6fa8", "#d39a1c", "#3b9c7a", "#8d62b3", "#7fbce6", "#96695a", "#d977b4", "#6d7788", "#1ba3a3", "#9aa82e", "#9098a6"];

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function mixed(from, to, share) {
  return from.map((value, i) => Math.round(value + (to[i] - value) * share));
}

// The colour of a fraction between 0 and 1.
function colour(map, share) {
  const place = Math.min(1, Math.max(0, share)) * (map.length - 1);
  const at = Math.min(map.length - 2, Math.floor(place));
  return mixed(rgb(map[at]), rgb(map[at + 1]), place - at);
}

// The colours for values between two limits: symmetric about zero if the sign changes.
function colours(low, high) {
  const signed = low < 0 && high > 0;
  const [from, to] = signed ? [-Math.max(-low, high), Math.max(-low, high)] : [low, high];
  const map = signed ? BLUE_TO_RED : FROM_DARK;
  return { low: from, high: to, of: (value) => colour(map, (value - from) / (to - from || 1)) };
}

// An image of columns x rows pixels, the first row at the bottom, as a shape that fills w x h.
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
