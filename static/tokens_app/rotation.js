/* A leaked secret must die at once: the other overlaps cannot be chosen then. */

export function watchRotation(root) {
  const part = root.querySelector("[data-rotation]");
  if (!part) return;
  const show = () => {
    const leaked = part.querySelector("[name=reason][value=leaked]").checked;
    for (const overlap of part.querySelectorAll("[name=overlap]")) {
      overlap.disabled = leaked && overlap.value !== "0";
      if (leaked && overlap.value === "0") overlap.checked = true;
    }
  };
  part.addEventListener("change", show);
  show();
}
