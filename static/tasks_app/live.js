/* Follows a task until it stands still, and says when nobody answers. */

const PAUSE = 1_500;
const LONGEST = 15_000;

export function followLive(root) {
  for (const part of root.querySelectorAll("[data-live]")) {
    if (part.querySelector("[data-moving]")) follow(part);
  }
}

function follow(part) {
  const told = part.querySelector("[data-live-told]");
  let pause = PAUSE;
  told.textContent = told.dataset.following;

  const look = async () => {
    if (!part.isConnected) return;
    if (document.hidden) {
      setTimeout(look, pause);
      return;
    }
    try {
      const answer = await fetch(part.dataset.live);
      if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const next = page.querySelector(".standing");
      const shown = part.querySelector(".standing");
      // A live region is read out only when it says something else.
      if (next.textContent !== shown.textContent) {
        shown.replaceWith(document.adoptNode(next));
      }
      pause = PAUSE;
      told.textContent = told.dataset.following;
      if (!part.querySelector("[data-moving]")) {
        told.textContent = told.dataset.ended;
        return;
      }
    } catch {
      pause = Math.min(LONGEST, pause * 2);
      told.textContent = told.dataset.lost;
    }
    setTimeout(look, pause);
  };
  setTimeout(look, pause);
}
