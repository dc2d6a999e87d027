/* The console's pages work without this; with it they lose nothing that was typed. */

import { watchCopying } from "../orbit/copying.js";
import { focusAnswer, watchForms } from "../orbit/sending.js";
import { showLocalTimes, zoneOfViewer } from "../orbit/times.js";
import { followLive } from "./live.js";
import { watchTexts } from "./texts.js";

function showZone(root) {
  const told = root.querySelector("[data-zone-told]");
  if (!told) return;
  const zone = zoneOfViewer();
  root.querySelector("[name=zone]").value = zone;
  told.textContent = told.dataset.zoneTold.replace("{zone}", zone);
}

function enhance(root) {
  showLocalTimes(root);
  showZone(root);
  followLive(root);
}

enhance(document);
watchCopying(document);
watchTexts(document);
watchForms(document, { enhance });
focusAnswer(document);
