/* Shows what a range that is being chosen would reach, and finds its members. */

const PAUSE = 200;

function watchFinding(part) {
  const find = part.querySelector("[data-find]");
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLocaleLowerCase();
    for (const option of part.querySelectorAll(".option")) {
      option.hidden = !option.textContent.toLocaleLowerCase().includes(wanted);
    }
  });
}

export function watchRange(root) {
  const part = root.querySelector("[data-range]");
  if (!part) return;
  const form = part.closest("form");
  const place = part.querySelector("[data-preview-here]");
  let timer = 0;
  let current = null;

  const load = async () => {
    current?.abort();
    current = new AbortController();
    // Only what the preview needs: a typed password stays here.
    const wanted = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (/^(csrfmiddlewaretoken|scopes|job_ids|job_groups|queue_ids)$/.test(name)) {
        wanted.append(name, value);
      }
    }
    try {
      const answer = await fetch(part.dataset.preview, {
        method: "POST",
        body: wanted,
        signal: current.signal,
      });
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      place.replaceChildren(...page.body.childNodes);
    } catch (problem) {
      if (problem.name !== "AbortError") place.textContent = part.dataset.failed;
    }
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(load, PAUSE);
  };

  watchFinding(part);
  form.addEventListener("change", (event) => {
    if (event.target.matches("[name=scopes], .picker input")) soon();
  });
  if (part.querySelector(".picker input:checked")) load();
}
