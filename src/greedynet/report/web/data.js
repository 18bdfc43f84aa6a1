// The data of the page, and a note on its rows.

const data = JSON.parse(byId("data").textContent);

// What depends on the rows shown: of those held out and of the others, if both are known.
const VIEWS = data.other && [
  Object.fromEntries(Object.keys(data.other).map((key) => [key, data[key]])),
  { ...data.other, picture: { ...data.picture, ...data.other.picture } },
];

function rowsNote() {
  const { all, shown: some, label } = data.rows;
  const count = (n) => n.toLocaleString("en");
  return some < all ? `A sample of ${count(some)} of the ${count(all)} ${label}, always the same.` : `All ${count(all)} ${label}.`;
}
