// Buttons that copy code.

function copyButtons() {
  document.querySelectorAll(".code").forEach((box) => {
    const button = element("button", { type: "button" }, "Copy");
    const told = element("span", { class: "copied", role: "status" });
    button.addEventListener("click", async () => {
      const text = box.querySelector("code").textContent;
      try {
        await navigator.clipboard.writeText(text);
        told.textContent = " Copied.";
      } catch {
        getSelection().selectAllChildren(box.querySelector("code"));
        told.textContent = " Selected: press Ctrl+C.";
      }
    });
    box.append(button, told);
  });
}
