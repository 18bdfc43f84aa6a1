// The table behind a picture, for readers who cannot see it: closed at first, built when it is opened.

// `make()` returns {caption, heads, rows, now}: the first cell of a row is its name, `now` the row to highlight.
// It comes after `place`. Returns a function that rebuilds the table if it is open.
function tableBehind(place, name, make) {
  const summary = element("summary", {}, "Show as a table", element("span", { class: "unseen" }, `: ${name}`));
  const table = element("table");
  const region = element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": `Table: ${name}` }, table);
  const details = element("details", {}, summary, region);
  const build = () => { if (details.open) table.replaceChildren(...tableParts(make())); };
  details.addEventListener("toggle", build);
  place.after(details);
  return build;
}

function tableParts({ caption, heads, rows, now = null }) {
  const text = (cell) => (typeof cell === "string" ? cell : shown(cell));
  const head = element("tr", {}, heads.map((cell) => element("th", { scope: "col" }, cell)));
  const body = rows.map(([first, ...rest], i) => element("tr", {},
    element("th", { scope: "row", "aria-current": i === now ? "true" : null }, text(first)), rest.map((cell) => element("td", {}, text(cell)))));
  return [element("caption", {}, element("span", {}, caption)), element("thead", {}, head), element("tbody", {}, body)];
}
