const data = JSON.parse(document.getElementById("data").textContent);
const head = document.querySelector("#ranks thead"), body = document.querySelector("#ranks tbody");
const canvas = document.getElementById("pairs"), said = document.getElementById("pair");
const dark = matchMedia("(prefers-color-scheme: dark)");
let order = data.rows.map((_, row) => row), sorted = { column: 0, down: false };
let at = [0, 0];

function cell(row, column) {
  const value = data.rows[row][column], kind = data.columns[column].kind;
  const made = document.createElement("td");
  made.textContent = kind === "share" ? percent(value) : value;
  if (kind === "text") made.className = "text name";
  if (kind === "text") made.title = value;
  return made;
}

function fill() {
  body.replaceChildren(...order.map((row) => {
    const line = document.createElement("tr");
    line.append(...data.columns.map((_, column) => cell(row, column)));
    return line;
  }));
  head.querySelectorAll("th").forEach((th, column) => {
    const way = sorted.down ? "descending" : "ascending";
    th.setAttribute("aria-sort", column === sorted.column ? way : "none");
  });
}

function sort(column) {
  const text = data.columns[column].kind === "text";
  const down = sorted.column === column ? !sorted.down : !text && column !== 0;
  const compare = text
    ? (a, b) => a.localeCompare(b, "en", { numeric: true })
    : (a, b) => a - b;
  order = data.rows.map((_, row) => row).sort((a, b) =>
    (down ? -1 : 1) * compare(data.rows[a][column], data.rows[b][column]) || a - b);
  sorted = { column, down };
  fill();
  draw();
}

function mix(from, to, share) {
  return from.map((part, index) => Math.round(part + (to[index] - part) * share));
}

function colour(rate) {
  const none = dark.matches ? [20, 23, 26] : [247, 247, 247];
  const full = rate > 0.5
    ? (dark.matches ? [86, 180, 233] : [5, 78, 145])
    : (dark.matches ? [240, 120, 90] : [165, 25, 35]);
  return mix(none, full, Math.min(1, Math.abs(rate - 0.5) / data.reach));
}

function draw() {
  const count = order.length;
  canvas.width = canvas.height = count;
  const context = canvas.getContext("2d"), image = context.createImageData(count, count);
  order.forEach((row, y) => order.forEach((column, x) => {
    const rate = data.rates[data.index[row]][data.index[column]];
    image.data.set([...colour(rate), 255], 4 * (y * count + x));
  }));
  context.putImageData(image, 0, 0);
  const stops = [0.5 - data.reach, 0.5, 0.5 + data.reach].map((rate) => `rgb(${colour(rate)})`);
  document.getElementById("bar").style.background = `linear-gradient(to right, ${stops})`;
  document.getElementById("low").textContent = percent(0.5 - data.reach);
  document.getElementById("high").textContent = percent(0.5 + data.reach);
}

function tell(x, y) {
  const last = order.length - 1;
  at = [Math.max(0, Math.min(last, x)), Math.max(0, Math.min(last, y))];
  const row = order[at[1]], column = order[at[0]];
  const rate = data.rates[data.index[row]][data.index[column]];
  said.textContent = `${data.rows[row][1]} wins ${percent(rate)} against ${data.rows[column][1]}`;
}

canvas.addEventListener("pointermove", (event) => {
  const box = canvas.getBoundingClientRect(), count = order.length;
  tell(Math.floor((event.clientX - box.left) / box.width * count),
    Math.floor((event.clientY - box.top) / box.height * count));
});
canvas.addEventListener("pointerdown", (event) => canvas.dispatchEvent(
  new PointerEvent("pointermove", { clientX: event.clientX, clientY: event.clientY })));
canvas.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  tell(at[0] + step[0], at[1] + step[1]);
});
dark.addEventListener("change", draw);

const line = document.createElement("tr");
data.columns.forEach(({ name, kind }, column) => {
  const th = document.createElement("th"), button = document.createElement("button");
  button.textContent = name;
  button.addEventListener("click", () => sort(column));
  if (kind === "text") th.className = "text";
  th.append(button);
  line.append(th);
});
head.append(line);
fill();
draw();
