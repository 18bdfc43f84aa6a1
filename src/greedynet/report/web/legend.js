// Legends: marks and their meanings.

const KINK_TEXT = "where a neuron switches on or off";

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

function classLegend() {
  return data.classes.map((name, c) => entry(dotMark({ fill: CLASSES[c] }), name));
}

// A line of the legend turned into a switch, which hides the elements of class "optional" within `box`.
function switched(box, line) {
  const input = element("input", { type: "checkbox", autocomplete: "off" });
  input.checked = true;
  input.addEventListener("change", () => box.classList.toggle("without", !input.checked));
  line.replaceChildren(element("label", {}, input, ...line.childNodes));
  return line;
}
