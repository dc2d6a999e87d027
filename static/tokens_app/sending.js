/* Sends a form once; the answer with a token never becomes a page of the history. */

export function focusFirstError(root) {
  const error = root.querySelector(".refusal, .field .errorlist");
  if (!error) return;
  const part = error.closest(".refusal, .until, .field");
  const control = part.matches(".refusal")
    ? part
    : part.querySelector("input:checked[type=radio]")
      || part.querySelector("input:not([type=hidden], [type=search]), select, textarea");
  (control || part).focus();
}

function setSending(form, isSending) {
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

function watchRotation(form) {
  const part = form.querySelector("[data-rotation]");
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

async function send(form, { enhance, guardSecret, watch }) {
  setSending(form, true);
  let page;
  try {
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
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
  const dialog = page.querySelector("[data-secret]");
  const next = page.querySelector("form[data-send]");
  if (dialog) {
    document.querySelector("main").append(document.adoptNode(dialog));
    form.querySelector("[data-sending]").textContent = "";
    enhance(dialog);
    guardSecret(dialog);
  } else if (next) {
    const shown = document.adoptNode(next);
    form.replaceWith(shown);
    watch(shown);
    enhance(shown);
    focusFirstError(shown);
  } else {
    // A page that says why not, such as that of an expired form.
    setSending(form, false);
    tell(form, page.querySelector("h1")?.textContent || form.dataset.lost);
  }
}

export function watchForms(root, hands) {
  const watch = (form) => {
    watchRotation(form);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(form, { ...hands, watch });
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
