// The data of the page, and a note on its rows.

const data = JSON.parse(byId("data").textContent);

function rowsNote() {
  const { all, shown: some, label } = data.rows;
  const count = (n) => n.toLocaleString("en");
  return some < all ? `A sample of ${count(some)} of the ${count(all)} ${label}, always the same.` : `All ${count(all)} ${label}.`;
}
