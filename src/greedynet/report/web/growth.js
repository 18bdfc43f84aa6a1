// The section that the slider controls.

// One function for each kind of picture. It fills a box and returns {title, text, legend, show}; `show(stop)` draws
// the network at that stop.
const PICTURES = {
  curve: curvePicture, probabilities: probabilityPicture, map: mapPicture, areas: mapPicture, scatter: scatterPicture, confusion: confusionPicture,
};

function growthSection() {
  const growth = data.growth;
  let stop = keptStop();
  const shows = [];
  if (growth) shows.push(pathSection(growth));
  if (data.picture) {
    byId("picture-part").hidden = false;
    const made = PICTURES[data.picture.kind](byId("picture"));
    byId("picture-title").textContent = made.title;
    byId("picture-text").textContent = [made.text, data.rows ? rowsNote() : ""].join(" ").trim();
    byId("picture-legend").replaceChildren(...made.legend);
    shows.push(made.show);
  }
  if (data.effects) shows.push(effectsSection());
  if (!shows.length) return;
  reveal("growth");
  if (!growth) byId("growth-title").textContent = "Predictions";
  const slider = byId("stop");
  const show = () => {
    shows.forEach((one) => one(stop));
    if (!growth) return;
    byId("status").textContent = stopText(stop);
    slider.setAttribute("aria-valuetext", stopName(stop));
  };
  if (growth) {
    slider.max = stopCount() - 1;
    slider.value = stop;
    slider.addEventListener("input", () => { stop = Number(slider.value); show(); });
    player(slider, stopCount() - 1);
  }
  show();
}
