/* Moments are written in UTC; here they turn into the viewer's own time. */

const written = { dateStyle: "medium", timeStyle: "short" };
const precise = {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hour12: false,
};

// The page's language, in the viewer's own country where they have one for it.
function localeOfViewer() {
  const { lang } = document.documentElement;
  const own = navigator.languages.find((it) => it.split("-")[0] === lang.split("-")[0]);
  return own || lang;
}

export function inWords(moment, manner = written) {
  return new Intl.DateTimeFormat(localeOfViewer(), manner).format(moment);
}

export function zoneOfViewer() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

export function showLocalTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.title = time.textContent;
    time.textContent = inWords(moment, "precise" in time.dataset ? precise : written);
  }
}
