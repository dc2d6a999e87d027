/* Copies a text and says whether that worked; where it did not, the text is selected. */

function select(element) {
  const selection = getSelection();
  selection.removeAllRanges();
  const range = document.createRange();
  range.selectNodeContents(element);
  selection.addRange(range);
  element.focus();
}

export function watchCopying(root) {
  root.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = document.getElementById(button.dataset.copy);
    const told = button.parentElement.querySelector("[data-copied]")
      || button.parentElement.nextElementSibling;
    let worked = true;
    try {
      // Missing on plain http, and refused where the browser is told so.
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      worked = false;
      select(text);
    }
    told.classList.toggle("is-failed", !worked);
    told.textContent = worked ? told.dataset.done : told.dataset.failed;
  });
}
