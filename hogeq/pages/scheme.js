// Light or dark, as the reader's system has it: what plots need to know of it.

const DARK = matchMedia("(prefers-color-scheme: dark)");

function inked(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// What all plots share.
function look(font) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { ...font, color: inked("--ink") },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: inked("--quiet"), activecolor: inked("--ink") },
    hoverlabel: { bgcolor: inked("--paper"), font: { color: inked("--ink") } },
  };
}
