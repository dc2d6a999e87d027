/* The workbench's pages work without this but for the one-time dialog's manners. */

import { watchCopying } from "../orbit/copying.js";
import { focusAnswer, watchForms } from "../orbit/sending.js";
import { showLocalTimes } from "../orbit/times.js";
import { watchExpiry } from "./expiry.js";
import { watchRange } from "./range.js";
import { watchRotation } from "./rotation.js";
import { guardSecret } from "./secret.js";

function enhance(root) {
  showLocalTimes(root);
  watchExpiry(root);
  watchRange(root);
  watchRotation(root);
}

// An answer with a token never becomes a page of the history.
function receive(page, form) {
  const dialog = page.querySelector("[data-secret]");
  if (!dialog) return false;
  document.querySelector("main").append(document.adoptNode(dialog));
  form.querySelector("[data-sending]").textContent = "";
  enhance(dialog);
  guardSecret(dialog);
  return true;
}

enhance(document);
watchCopying(document);
watchForms(document, { enhance, receive });
focusAnswer(document);

// Without a script the dialog lies open in the page; with one it is modal.
const shown = document.querySelector("[data-secret]");
if (shown) guardSecret(shown);
