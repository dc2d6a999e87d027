/* The workbench's pages work without this but for the one-time dialog's manners. */

import { watchCopying } from "./copying.js";
import { watchExpiry } from "./expiry.js";
import { focusFirstError, watchForms } from "./sending.js";
import { watchRange } from "./range.js";
import { guardSecret } from "./secret.js";
import { showLocalTimes } from "./times.js";

function enhance(root) {
  showLocalTimes(root);
  watchExpiry(root);
  watchRange(root);
}

enhance(document);
watchCopying(document);
watchForms(document, { enhance, guardSecret });
focusFirstError(document);

// Without a script the dialog lies open in the page; with one it is modal.
const shown = document.querySelector("[data-secret]");
if (shown) guardSecret(shown);
