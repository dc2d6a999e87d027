/* Copies a text and says whether that worked; where it did not, the text is selected. */

function select(element) {
  const selection = getSelection();
  selection.removeAllRanges();
  const range = document.createRange();
  range.selectNodeContents(element);
  selection.addRange(range);
  element.focus();
}

async function textOf(button, element) {
  // A page that shows the beginning only has the address of the whole.
  if (!button.dataset.copyFrom) return element.textContent;
  const answer = await fetch(button.dataset.copyFrom);
  if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
  return answer.text();
}

export function watchCopying(root) {
  root.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const element = document.getElementById(button.dataset.copy);
    const part = button.closest("[data-stored]") || button.parentElement;
    const told = part.querySelector("[data-copied]") || part.nextElementSibling;
    let worked = true;
    try {
      // Missing on plain http, and refused where the browser is told so.
      await navigator.clipboard.writeText(await textOf(button, element));
    } catch {
      worked = false;
      select(element);
    }
    told.classList.toggle("is-failed", !worked);
    told.textContent = worked ? told.dataset.done : told.dataset.failed;
  });
}
