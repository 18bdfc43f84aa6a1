// The table of the neurons.

function neuronsSection() {
  const { names, rows, left, moves, weightsLeft: hidden, firstWeight: first } = data.neurons;
  if (!rows.length) return;
  reveal("neurons");
  const notes = [`Each neuron contributes its outer weight times its activation. ${neuronsText(names, moves)}`];
  if (names.includes("active %")) notes.push(`Active: the percentage of rows${moves ? "" : " beyond its kink, on the side"} where the weighted sum plus bias is positive.`);
  notes.push("Neurons with the largest weights come first; click on a column name to sort.");
  if (left) notes.push(`${left} neurons with smaller weights are not shown.`);
  if (hidden) notes.push(`${hidden} inputs with smaller ${moves ? "effects on them" : "weights"} are not shown.`);
  byId("neurons-text").textContent = notes.join(" ");
  const lines = rows.map((row) => ({ row, node: element("tr", {}, row.map((value, c) => (
    c === 0 ? element("th", { scope: "row" }, String(value)) : element("td", {}, names[c] === "kink" && value !== null && data.picture ? shownInput(value) : shown(value))))) }));
  const body = element("tbody", {}, lines.map((line) => line.node));
  const heads = names.map((name, c) => {
    const text = c >= first ? `${moves ? "moved by" : "weight of"} ${name}` : name;
    const head = element("th", { scope: "col", "aria-sort": "none" }, element("button", { type: "button", title: text }, c >= first ? name : text));
    head.firstChild.addEventListener("click", () => sortBy(body, lines, heads, c));
    return head;
  });
  byId("neurons-table").append(element("caption", {}, `${rows.length} ${rows.length === 1 ? "neuron" : "neurons"} of the network`), element("thead", {}, element("tr", {}, heads)), body);
}

function neuronsText(names, moves) {
  if (moves) return `The columns of inputs say by how much each input moves it at most over the training data, times the outer weight, in units of ${data.target}.`;
  return names.includes("kink") ? "It bends at its kink." : "It bends where the weighted sum of its inputs equals its threshold.";
}

// Ascending at first, descending when clicked again; cells without a number count as the largest.
function sortBy(body, lines, heads, column) {
  const rising = heads[column].getAttribute("aria-sort") !== "ascending";
  heads.forEach((head, c) => head.setAttribute("aria-sort", c !== column ? "none" : rising ? "ascending" : "descending"));
  const key = (line) => line.row[column] ?? Number.MAX_VALUE;
  const sorted = [...lines].sort((one, other) => (rising ? key(one) - key(other) : key(other) - key(one)));
  body.append(...sorted.map((line) => line.node));
}
