/* Loads the whole of a long text, byte for byte, in place of its beginning. */

export function watchTexts(root) {
  root.addEventListener("click", async (event) => {
    const link = event.target.closest("[data-load]");
    if (!link) return;
    event.preventDefault();
    const stored = link.closest("[data-stored]");
    try {
      const answer = await fetch(link.href);
      if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
      const text = document.getElementById(link.dataset.load);
      text.textContent = await answer.text();
      stored.querySelector("[data-part]")?.remove();
      text.parentElement.focus();
      link.remove();
    } catch {
      link.textContent = link.dataset.failed;
    }
  });
}
