// A table out of a file, read with suspicion: as hogeq.strategies.read reads it, in the same words.

const SUFFIXES = [".csv", ".txt", ".json"];
const TEXT_BYTES_PER_CELL = 128;
const KEY = /^\s*[([]?\s*([0-9]{1,4})(?:\s*,\s*|\s+)([0-9]{1,4})\s*[)\]]?\s*$/;
const KEY_LENGTH = 40;

class TableError extends Error {}

// Name and bytes of a file -> Uint8Array (G * G) of dice to roll, own score first; or a TableError.
function readTable(name, bytes, { goal, maxDice }) {
  const refuse = (why) => {
    throw new TableError(`${shownText(name)}: ${why}`);
  };
  const suffix = (name.match(/\.[^.]*$/) ?? [""])[0].toLowerCase();
  if (suffix === ".py") refuse(`a page runs no code; make a table of it with: hogeq export ${shownText(name)} --trust --out table.csv`);
  if (!SUFFIXES.includes(suffix)) {
    const given = suffix ? `suffix ${quoted(suffix)}` : "a name without suffix";
    refuse(`${given}; allowed: ${SUFFIXES.join(", ")}`);
  }
  const most = 2 ** 20 + TEXT_BYTES_PER_CELL * goal * goal;
  if (bytes.byteLength > most) refuse(`has ${bytes.byteLength} bytes; allowed: ${most} for a strategy`);
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    refuse("is not UTF-8 text");
  }
  const rows = suffix === ".json" ? jsonRows(text, goal, refuse) : textRows(text);
  return checkedRows(rows, goal, maxDice, refuse);
}

function textRows(text) {
  const lines = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
  const cells = (line) => (line.includes(",") ? line.split(",") : line.split(/\s+/).filter(Boolean));
  return lines.map(cells).filter((row) => row.length).map((row) => row.map(numberOf));
}

// A number if the cell is one; otherwise the cell, for a message to show.
function numberOf(cell) {
  const text = cell.trim();
  if (/^[+-]?[0-9]{1,9}$/.test(text)) return Number(text);
  if (/^[+-]?[0-9]{1,30}\.[0-9]{0,30}([eE][+-]?[0-9]{1,3})?$/.test(text)) return Number(text);
  return text;
}

function jsonRows(text, goal, refuse) {
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    refuse("is not JSON");
  }
  if (Array.isArray(content)) return content;
  if (content === null || typeof content !== "object") {
    refuse(
      `is ${shownValue(content)}; allowed: a list of ${goal} lists of ${goal} numbers or an ` +
        `object of ${goal * goal} numbers`,
    );
  }
  const entries = Object.entries(content);
  // JSON.parse keeps the last of two equal keys; no allowed key has a colon.
  if ((text.match(/"\s*:/g) ?? []).length !== entries.length) refuse("a key stands twice");
  const rows = Array.from({ length: goal }, () => Array(goal).fill(undefined));
  for (const [key, value] of entries) {
    const scores = key.length <= KEY_LENGTH ? key.match(KEY) : null;
    const [row, column] = scores ? [Number(scores[1]), Number(scores[2])] : [goal, goal];
    if (Math.max(row, column) >= goal) {
      refuse(
        `key ${quoted(key)}; allowed: two scores from 0 to ${goal - 1}, own first, as "12,30" or ` +
          '"(12, 30)"',
      );
    }
    if (rows[row][column] !== undefined) {
      refuse(`cell (row ${row}, column ${column}) stands twice, as ${quoted(key)} too`);
    }
    rows[row][column] = value;
  }
  rows.forEach((cells, row) => {
    const column = cells.indexOf(undefined);
    if (column >= 0) {
      refuse(`cell (row ${row}, column ${column}) is missing; allowed: ${goal * goal} entries`);
    }
  });
  return rows;
}

// Whole numbers from 0 to the most dice, in as many rows as the goal says; the first fault is named.
function checkedRows(rows, goal, maxDice, refuse) {
  const allowed = `allowed: ${goal} rows of ${goal} whole numbers`;
  const at = (row, column) => `cell (row ${row}, column ${column})`;
  const table = new Uint8Array(goal * goal);
  rows.forEach((cells, row) => {
    if (row === goal) refuse(`${at(row, 0)} is one too many; ${allowed}`);
    if (!Array.isArray(cells)) refuse(`row ${row} is ${shownValue(cells)}; ${allowed}`);
    cells.forEach((cell, column) => {
      if (column === goal) refuse(`${at(row, column)} is one too many; ${allowed}`);
      if (!(Number.isInteger(cell) && cell >= 0 && cell <= maxDice)) {
        refuse(`${at(row, column)} is ${shownValue(cell)}; allowed: whole numbers from 0 to ${maxDice}`);
      }
      table[row * goal + column] = cell;
    });
    if (cells.length < goal) refuse(`${at(row, cells.length)} is missing; ${allowed}`);
  });
  if (rows.length < goal) refuse(`${at(rows.length, 0)} is missing; ${allowed}`);
  return table;
}

// --- what messages quote, as hogeq.support.messages writes it ------------------------------------

const MOST_QUOTED = 60;

function quoted(text) {
  const short = text.length > MOST_QUOTED ? `${text.slice(0, 28)}...${text.slice(-29)}` : text;
  const mark = short.includes("'") && !short.includes('"') ? '"' : "'";
  return `${mark}${escaped(short).replaceAll(mark, `\\${mark}`)}${mark}`;
}

function escaped(text) {
  return text.replace(/[^ -~]|\\/g, (letter) => {
    const code = letter.charCodeAt(0);
    if (letter === "\\") return "\\\\";
    if (letter === "\n") return "\\n";
    if (letter === "\t") return "\\t";
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

// A file's name: as it is, if it can be printed.
function shownText(text) {
  const short = text.length > 100 ? `${text.slice(0, 60)}...${text.slice(-30)}` : text;
  return /^[\p{L}\p{N}\p{P}\p{S} ]*$/u.test(short) ? short : quoted(short);
}

function shownValue(value) {
  if (typeof value === "string") return quoted(value);
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) {
    const first = value.slice(0, 6).map((one) => (Array.isArray(one) ? "[...]" : shownValue(one)));
    return `[${first.join(", ")}${value.length > 6 ? ", ..." : ""}]`;
  }
  return typeof value === "object" ? "an object" : String(value);
}
