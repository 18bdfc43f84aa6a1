// Numbers: formatted as text, and unpacked.

// Plain up to a billion, with commas between the thousands.
function shown(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) {
    const [front, power] = value.toExponential(digits - 1).split("e");
    return `${Number(front)}e${Number(power)}`;
  }
  if (size >= 10 ** (digits - 1)) return Math.round(value).toLocaleString("en"); // as in the texts
  return Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 12 });
}

// Values between 1500 and 2200 are taken for years, which have no comma.
function areYears(low, high) {
  return low >= 1500 && high <= 2200;
}

function shownYear(value) {
  return String(Number(value.toFixed(1)));
}

function shownTick(value, { low, high }) {
  return areYears(low, high) ? shownYear(value) : shown(value, 6);
}

function short(text, letters) {
  return text.length > letters ? text.slice(0, letters - 1) + "…" : text;
}

// Unpack numbers: integers of 8 or 16 bits in base 64, which stand for values between `low` and `high`.
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

// A packed number, or a mean of several, with the digits that survive the packing.
function shownPacked(value, { low, high, bits }) {
  return shownTo(value, Math.max(Math.abs(low), Math.abs(high)), (high - low) / (2 ** bits - 1));
}

// A number of at most this absolute value, rounded to steps of about `step`.
function shownTo(value, size, step) {
  const unit = roundStep(step);
  return shown(Math.round(value / unit) * unit, Math.max(1, Math.ceil(Math.log10(size / unit)) + 1));
}

// The smallest of 1, 2 and 5 times a power of ten that is not below `step`.
function roundStep(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  return power * ([1, 2, 5].find((factor) => factor * power >= step * 0.999) || 10);
}

// A note on packed numbers if some were clipped to their limits.
function clippedNote(values, { low, high }) {
  const clipped = values.some((value) => value <= low || value >= high);
  return clipped ? ` Values beyond ${shown(low, 3)} and ${shown(high, 3)} are clipped.` : "";
}
