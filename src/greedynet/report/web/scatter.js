// More inputs, numbers: predicted against actual, at the width selected by the slider.

function scatterPicture(box) {
  const found = data.picture, values = unpacked(found.values), { low, high } = found.values;
  const bars = found.intervals && unpacked(found.intervals.ends), n = found.actual.length;
  let stop = 0;
  const paint = picture(box, (width) => {
    const side = Math.min(width, 460);
    const frame = chart({
      width: side, height: Math.min(380, side), label: `Predicted against actual ${data.target}; on the diagonal the two are equal`,
      x: { low, high, name: `actual ${data.target}` }, y: { low, high, name: "predicted" },
    });
    frame.inner.append(shape("line", { class: "line faint", x1: frame.across(low), x2: frame.across(high), y1: frame.up(low), y2: frame.up(high) }));
    const here = part(values, found.values, stop);
    if (bars && stop === keptStop()) {
      found.actual.forEach((actual, i) => frame.inner.append(shape("line", {
        class: "bar-line", x1: frame.across(actual), x2: frame.across(actual), y1: frame.up(bars[i]), y2: frame.up(bars[n + i]) })));
    }
    found.actual.forEach((actual, i) => {
      const dot = shape("circle", { class: "dot-blue predicted", cx: frame.across(actual), cy: frame.up(here[i]), r: 3 });
      dot.append(shape("title", {}, `actual ${shown(actual)}, predicted ${shown(here[i])}`));
      frame.inner.append(dot);
    });
    return frame.outer;
  });
  const list = tableBehind(box, "predicted against actual", () => scatterTable(part(values, found.values, stop), stop));
  const legend = bars ? [entry(dotMark({ class: "dot-blue" }), "prediction"), entry(lineMark("bar-line"), `${found.intervals.name}, network kept`)] : [];
  const text = "Each point is a row; on the diagonal, the prediction is exact." + (bars ? " A bar that crosses the diagonal contains the actual value." : "");
  return { title: "Predicted against actual", text, legend, show: (at) => { stop = at; paint(); list(); } };
}

function scatterTable(here, stop) {
  const { actual, values } = data.picture, groups = groupsBy(actual);
  const lines = groups.map((rows) => [
    mean(rows.map((i) => actual[i])), shownPacked(mean(rows.map((i) => here[i])), values),
    shown(rootMeanSquare(rows.map((i) => actual[i] - here[i])), 3), rows.length,
  ]);
  const caption = `${groupsNote(groups, actual.length, `actual ${data.target}`)}, ${stopName(stop)}.${clippedNote(here, values)}`;
  return { caption, heads: [`actual ${data.target}`, "predicted", "residual, root mean square", "rows"], rows: lines };
}
