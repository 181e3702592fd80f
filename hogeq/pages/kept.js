// What a browser keeps for a game, by its rules. Where it keeps nothing, or something else than was
// written, there is nothing.

function keptKey(what, edition) {
  return `hogeq ${what} ${JSON.stringify(edition.rules)}`;
}

function readKept(what, edition) {
  try {
    return JSON.parse(localStorage.getItem(keptKey(what, edition)));
  } catch {
    return null;
  }
}

// Null forgets it.
function writeKept(what, edition, value) {
  try {
    if (value) localStorage.setItem(keptKey(what, edition), JSON.stringify(value));
    else localStorage.removeItem(keptKey(what, edition));
  } catch {
    // A browser that keeps nothing.
  }
}

// A day as 2026-01-31, by the reader's clock: today, or so many days before.
function dayBefore(days = 0) {
  const day = new Date();
  day.setDate(day.getDate() - days);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

function isDay(text) {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}
