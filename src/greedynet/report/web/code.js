// Buttons that copy code.

function copyButtons() {
  document.querySelectorAll(".code").forEach((box) => {
    const button = element("button", { type: "button" }, "Copy");
    const status = element("span", { class: "copied", role: "status" });
    button.addEventListener("click", async () => {
      const text = box.querySelector("code").textContent;
      try {
        await navigator.clipboard.writeText(text);
        status.textContent = " Copied.";
      } catch {
        getSelection().selectAllChildren(box.querySelector("code"));
        status.textContent = " Selected: press Ctrl+C.";
      }
    });
    box.append(button, status);
  });
}
