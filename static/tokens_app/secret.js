/* The one-time dialog: only "I have stored it" closes it, and then it is gone. */

export function guardSecret(dialog) {
  dialog.removeAttribute("open");
  dialog.showModal();

  const keepOpen = (event) => event.preventDefault();
  const keepOnEscape = (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const askBeforeLeaving = (event) => event.preventDefault();
  // A page that the browser keeps for "back" must not keep the token with it.
  const forget = () => dialog.remove();

  dialog.addEventListener("cancel", keepOpen);
  // Some browsers close at the second Escape whatever the first one was told.
  dialog.addEventListener("close", () => dialog.isConnected && dialog.showModal());
  document.addEventListener("keydown", keepOnEscape, true);
  addEventListener("beforeunload", askBeforeLeaving);
  addEventListener("pagehide", forget, { once: true });

  dialog.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const next = event.target.action;
    removeEventListener("beforeunload", askBeforeLeaving);
    document.removeEventListener("keydown", keepOnEscape, true);
    getSelection().removeAllRanges();
    forget();
    // The form's page leaves the history: "back" goes where the visitor came from.
    location.replace(next);
  });
}
