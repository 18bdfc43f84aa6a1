// More inputs, classes: the confusion matrix, which is a table already.

function confusionPicture(box) {
  const found = data.picture, classes = unpacked(found.found);
  const show = (stop) => {
    const counts = data.classes.map(() => data.classes.map(() => 0));
    part(classes, found.found, stop).forEach((at, i) => { counts[found.actual[i]][at] += 1; });
    box.replaceChildren(confusionTable(data.classes, counts));
  };
  const text = "Each row is a true class, each column a predicted class.";
  return { title: "Confusion matrix", text, legend: [], show };
}

function confusionTable(names, counts) {
  const largest = Math.max(1, ...counts.flat());
  const head = element("tr", {}, element("td", {}, "true \\ predicted"), names.map((name) => element("th", { scope: "col", title: name }, short(name, 14))));
  const body = counts.map((line, i) => element("tr", {}, element("th", { scope: "row", title: names[i] }, short(names[i], 20)), line.map((count, j) => {
    const cell = element("td", i === j ? { class: "right" } : {}, String(count));
    const tint = i === j ? "var(--blue)" : "var(--red)";
    if (count) cell.style.background = `color-mix(in srgb, ${tint} ${Math.round(4 + 26 * count / largest)}%, var(--paper))`;
    return cell;
  })));
  const table = element("table", { class: "confusion" }, element("caption", {}, "True and predicted classes"), element("thead", {}, head), element("tbody", {}, body));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix" }, table);
}
