// The table of importances.

function importanceSection() {
  const { columns, left, unit, repeats } = data.importance;
  reveal("importance");
  const more = left ? ` ${left} less important columns are not shown.` : "";
  byId("importance-text").textContent = `Permutation importance: the increase of the ${unit} of the network when the values of a `
    + `column are shuffled among the rows, averaged over ${repeats} shuffles. ${rowsNote()}${more}`;
  const most = Math.max(...columns.map((column) => column.mean), 1e-300);
  const body = columns.map((column) => {
    const bar = element("div");
    bar.style.width = `${Math.max(0, 100 * column.mean / most)}%`;
    return element("tr", {}, element("th", { scope: "row", title: column.name }, column.name), element("td", {}, shown(column.mean, 3)), element("td", { class: "bar" }, bar));
  });
  const head = element("tr", {}, element("th", { scope: "col" }, "column"), element("th", { scope: "col" }, `increase of the ${unit}`), element("td"));
  byId("importance-table").append(element("caption", {}, "Importance of the columns"), element("thead", {}, head), element("tbody", {}, body));
}
