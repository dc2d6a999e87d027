/* Sends forms once, and keeps what was typed until an answer has come. */

// To what the visitor must read next: a refusal, the first mistake, an answer.
export function focusAnswer(root) {
  const error = root.querySelector(".refusal, .field .errorlist, [data-answer]");
  if (!error) return;
  const part = error.closest(".refusal, .until, .field, [data-answer]");
  const control = part.matches(".refusal, [data-answer]")
    ? part
    : part.querySelector("input:checked[type=radio]")
      || part.querySelector("input:not([type=hidden], [type=search]), select, textarea");
  (control || part).focus();
}

export function setSending(form, isSending) {
  for (const button of form.querySelectorAll("button[type=submit]")) {
    button.disabled = isSending;
  }
  const told = form.querySelector("[data-sending]");
  told.textContent = isSending ? told.dataset.text : "";
}

function tell(form, text) {
  form.querySelector(".refusal")?.remove();
  const refusal = document.createElement("div");
  refusal.className = "refusal";
  refusal.setAttribute("role", "alert");
  refusal.tabIndex = -1;
  refusal.textContent = text;
  form.prepend(refusal);
  refusal.focus();
}

function goOn(form, url) {
  // Nothing typed is at stake any more; the next page says what was done.
  form.querySelector("[data-sending]").textContent = "";
  location.assign(url);
}

async function send(form, button, { enhance, receive, watch }) {
  const body = new FormData(form);
  // Which button was pressed may decide everything, and not every browser adds it.
  if (button?.name) body.append(button.name, button.value);
  setSending(form, true);
  let page;
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      body,
      headers: { "X-Orbit-Form": "1" },
    });
    if (answer.redirected) {
      setSending(form, false);
      tell(form, form.dataset.signedOut);
      return;
    }
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    setSending(form, false);
    tell(form, form.dataset.lost);
    return;
  }
  const done = page.querySelector("[data-next]");
  const next = page.querySelector("form[data-send]");
  if (done) {
    goOn(form, done.dataset.next);
  } else if (receive?.(page, form)) {
    // What came is shown beside the form.
  } else if (next) {
    const shown = document.adoptNode(next);
    form.replaceWith(shown);
    watch(shown);
    enhance(shown);
    focusAnswer(shown);
  } else {
    // A page that says why not, such as that of an expired form.
    setSending(form, false);
    tell(form, page.querySelector("h1")?.textContent || form.dataset.lost);
  }
}

export function watchForms(root, hands) {
  const watch = (form) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(form, event.submitter, { ...hands, watch });
    });
  };
  for (const form of root.querySelectorAll("form[data-send]")) watch(form);
  for (const form of root.querySelectorAll("form[data-autosend]")) {
    form.addEventListener("change", () => form.requestSubmit());
    form.querySelector("button").hidden = true;
  }
  for (const form of root.querySelectorAll("form[data-checked]")) {
    form.addEventListener("submit", () => {
      // After the values are read: a second click sends nothing.
      setTimeout(() => {
        for (const button of form.querySelectorAll("button")) button.disabled = true;
      });
    });
  }
}

// A page that comes back from the browser's memory can be sent again.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const button of document.querySelectorAll("button[disabled]")) {
    button.disabled = false;
  }
});
