// The page: all sections for which there are data, each by the function `<id>Section` of its script.

function reveal(id) {
  byId(id).hidden = false;
  const link = document.querySelector(`nav a[href="#${id}"]`);
  if (link) link.parentElement.hidden = false;
}

const blank = byId("main").cloneNode(true);

function start() {
  rowsSwitch();
  // The growth has parts of which each may be there without the others.
  for (const { id } of document.querySelectorAll("main > section")) {
    if (data[id] || id === "growth") window[`${id}Section`]();
  }
  copyButtons();
}

// Buttons that choose the rows of all charts and tables, and draw the page again.
function rowsSwitch() {
  if (!VIEWS) return;
  const box = byId("rows-switch");
  box.hidden = false;
  VIEWS.forEach((view, i) => {
    const pressed = view.rows.label === data.rows.label;
    const { all, shown: some, label } = view.rows, count = (n) => n.toLocaleString("en");
    const text = some < all ? `a sample of ${count(some)} of the ${count(all)} ${label}` : `${label} (${count(all)})`;
    const button = element("button", { type: "button", "aria-pressed": String(pressed) }, text);
    button.addEventListener("click", () => {
      Object.assign(data, view);
      byId("main").replaceWith(blank.cloneNode(true));
      start();
      byId("rows-switch").querySelectorAll("button")[i].focus();
    });
    box.append(button);
  });
}

start();
