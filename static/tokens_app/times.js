/* Moments are written in UTC; here they turn into the viewer's own time. */

const written = { dateStyle: "medium", timeStyle: "short" };

export function inWords(moment) {
  return new Intl.DateTimeFormat(document.documentElement.lang, written).format(moment);
}

export function zoneOfViewer() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

export function showLocalTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.title = time.textContent;
    time.textContent = inWords(moment);
  }
}
