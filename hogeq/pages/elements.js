// Elements of the page. Text is always set as text: no name or file can become markup.

// h("p", {class: "quiet", onclick: f}, "text", element, ...)
function h(tag, attributes = {}, ...children) {
  return fillElement(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fillElement(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fillElement(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value === "boolean") element[name] = value;
    else if (name === "style") for (const [key, set] of Object.entries(value)) element.style.setProperty(key, set);
    else element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

// A table with a heading for each column; cells are texts or elements.
function tableOf(caption, columns, rows) {
  return h(
    "table",
    {},
    h("caption", { class: "hidden" }, caption),
    h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell))))),
  );
}

function button(text, onclick, more = {}) {
  return h("button", { type: "button", class: "button", onclick, ...more }, text);
}

// A file for the reader to keep.
function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

const STILL = matchMedia("(prefers-reduced-motion: reduce)");

function wait(milliseconds) {
  return new Promise((go) => setTimeout(go, STILL.matches ? Math.min(milliseconds, 60) : milliseconds));
}
