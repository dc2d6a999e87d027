/* Says in the viewer's own time when a token will expire. */

import { inWords, zoneOfViewer } from "../orbit/times.js";

const DAY = 24 * 60 * 60 * 1000;

function momentOf(chosen, until) {
  if (/^\d+$/.test(chosen)) return new Date(Date.now() + Number(chosen) * DAY);
  if (chosen === "until" && until.value) return new Date(until.value);
  return null;
}

export function watchExpiry(root) {
  const part = root.querySelector("[data-expiry]");
  if (!part) return;
  const zone = zoneOfViewer();
  const until = part.querySelector("#id_until");
  const told = part.querySelector("[data-moment]");
  const inUtc = told.textContent;
  part.querySelector("#id_zone").value = zone;
  part.querySelector("[data-zone]").textContent = `(${zone})`;

  const show = () => {
    const chosen = part.querySelector("[name=lifetime]:checked")?.value || "";
    until.closest(".until").hidden = chosen !== "until";
    const moment = momentOf(chosen, until);
    told.textContent = moment
      ? `${part.dataset.told.replace("{moment}", `${inWords(moment)} (${zone})`)} · ${inUtc}`
      : inUtc;
  };
  part.addEventListener("input", show);
  show();
}
