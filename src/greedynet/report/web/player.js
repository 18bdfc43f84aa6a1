// The button that moves the slider.

function player(slider, last) {
  const button = byId("play"), calm = matchMedia("(prefers-reduced-motion: reduce)");
  let timer = null;
  const halt = () => {
    clearInterval(timer);
    timer = null;
    button.textContent = "Play";
    byId("status").setAttribute("aria-live", "polite");
  };
  const move = (to) => { slider.value = to; slider.dispatchEvent(new Event("input")); };
  button.addEventListener("click", () => {
    if (timer !== null) return halt();
    if ([keptStop(), last].includes(Number(slider.value))) move(0);
    button.textContent = "Pause";
    byId("status").setAttribute("aria-live", "off"); // so that screen readers do not read out every step
    timer = setInterval(() => {
      move(Number(slider.value) + 1);
      if (Number(slider.value) >= last) halt();
    }, calm.matches ? 1200 : Math.max(60, Math.min(400, 10000 / last)));
  });
  slider.addEventListener("pointerdown", () => { if (timer !== null) halt(); });
  slider.addEventListener("keydown", () => { if (timer !== null) halt(); });
}
