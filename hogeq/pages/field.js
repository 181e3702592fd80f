const data = JSON.parse(document.getElementById("data").textContent);
const head = document.querySelector("#ranks thead"), body = document.querySelector("#ranks tbody");
const MOST_NAMED = 20; // rows that have room for a name
let order = data.rows.map((_, row) => row), sorted = { column: 0, down: false };
const name = data.columns.findIndex((column) => column.name === "strategy");

function cell(row, column) {
  const value = data.rows[row][column], kind = data.columns[column].kind;
  const made = document.createElement("td");
  made.textContent = kind === "share" ? percent(value) : value;
  if (kind === "text") made.className = "text name";
  if (kind === "text") made.title = value;
  made.classList.toggle("roomy", !data.columns[column].narrow);
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

// Blue wins, red loses, and what is even leaves no ink.
function stops() {
  return DARK.matches ? ["#f0785a", "#14171a", "#56b4e9"] : ["#a51923", "#f7f7f7", "#054e91"];
}

function rate(row, column) {
  return data.rates[data.index[order[row]]][data.index[order[column]]];
}

function draw() {
  const { reach } = data;
  grid.name(order.length <= MOST_NAMED ? order.map((row) => data.rows[row][name]) : []);
  grid.show(order.length, (row, column) => colourAt(stops(), 0.5 + (rate(row, column) - 0.5) / (2 * reach)));
  fillRamp(document.getElementById("scale"), stops(), percent(0.5 - reach), percent(0.5 + reach));
}

function tell(row, column) {
  const [one, other] = [row, column].map((place) => data.rows[order[place]][name]);
  document.getElementById("pair").textContent = `${one} wins ${percent(rate(row, column))} against ${other}`;
}

const grid = new Grid({
  label: "Win rates of row against column, in the order of the table; arrow keys move from pair to pair",
  rows: "row of the table",
  columns: "against row",
  choose: tell,
  upward: false,
  first: 1,
  hover: true,
});
document.getElementById("pairs").append(grid.frame);
DARK.addEventListener("change", draw);

const line = document.createElement("tr");
data.columns.forEach(({ name: title, kind, narrow }, column) => {
  const th = document.createElement("th"), button = document.createElement("button");
  button.textContent = title;
  button.addEventListener("click", () => sort(column));
  th.classList.toggle("text", kind === "text");
  th.classList.toggle("roomy", !narrow);
  th.append(button);
  line.append(th);
});
head.append(line);
fill();
draw();
