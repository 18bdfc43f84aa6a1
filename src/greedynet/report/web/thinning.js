// Reducing many points to few, for the tables behind the pictures.

const MOST_LINES = 25;

// Evenly spaced indices of a line of n points, from the first on.
function spread(n) {
  const step = Math.max(1, Math.ceil((n - 1) / (MOST_LINES - 1)));
  return Array.from({ length: Math.floor((n - 1) / step) + 1 }, (_, i) => i * step);
}

// For each of some evenly spaced places, the indices of the values nearest to it.
function nearest(values, places) {
  const found = places.map(() => []), last = places.length - 1;
  const step = (places[last] - places[0]) / last;
  values.forEach((value, i) => {
    const at = Math.round((value - places[0]) / step);
    if (at >= 0 && at <= last) found[at].push(i);
  });
  return found;
}

// Indices in groups of about equal size, from the smallest values to the largest.
function groupsBy(values) {
  const order = Array.from(values.keys()).sort((one, other) => values[one] - values[other]);
  const n = Math.min(order.length, MOST_LINES), end = (g) => Math.round(g * order.length / n);
  return Array.from({ length: n }, (_, g) => order.slice(end(g), end(g + 1)));
}

function groupsNote(groups, rows, by) {
  return groups.length === rows ? `Every row, by ${by}` : `Means over ${groups.length} groups of the ${rows.toLocaleString("en")} rows, in order of ${by}`;
}

// NaN, which is shown as a dash, if there are no values.
function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function rootMeanSquare(values) {
  return Math.sqrt(mean(values.map((value) => value * value)));
}

// Number of members of each class.
function counted(classes) {
  const counts = data.classes.map(() => 0);
  classes.forEach((at) => { counts[at] += 1; });
  return counts;
}

// The same as text, such as "cat: 3, dog: 1".
function classCounts(classes) {
  const counts = counted(classes);
  return data.classes.map((name, c) => `${name}: ${counts[c]}`).filter((_, c) => counts[c]).join(", ") || "–";
}
