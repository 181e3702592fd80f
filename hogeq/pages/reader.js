// A plain table out of a file, read with suspicion: lines of cells, lists in JSON, and what `hogeq export`
// writes. All other forms that hogeq.strategies.forms knows become one of these by that command.

const SUFFIXES = [".csv", ".tsv", ".txt", ".json", ".py"]; // that the dialog for files offers
const TEXT_BYTES_PER_CELL = 128;

class TableError extends Error {}

// Name and bytes of a file -> its table, Uint8Array (G * G) of choices by their numbers, own score
// first, and the name of its player, if it has one; or a TableError.
function readTable(name, bytes, { goal, maxDice, least = 0, names = [], title = "" }) {
  const refuse = (why) => {
    throw new TableError(`${shownText(name)}: ${why}`);
  };
  const suffix = (name.match(/\.[^.]*$/) ?? [""])[0].toLowerCase();
  const trusted = suffix === ".py" ? " --trust" : "";
  const rules = names.find((one) => title.startsWith(one)) ?? names[0] ?? "GAME";
  const convert = (why) => refuse(`${why}; make a plain table of it with: hogeq export ${typedName(name)} --rules ${rules}${trusted} --out table.csv`);
  const start = String.fromCharCode(...new Uint8Array(bytes, 0, Math.min(6, bytes.byteLength)));
  if (start === "\x93NUMPY" || start.startsWith("PK")) convert("a page reads text alone");
  const most = 2 ** 20 + TEXT_BYTES_PER_CELL * goal * goal;
  if (bytes.byteLength > most) refuse(`has ${bytes.byteLength} bytes; allowed: ${most} for a strategy`);
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    refuse("is not UTF-8 text");
  }
  if (isSavedGame(text)) refuse("is a saved game; allowed here: a table; Learn opens games");
  const { player, rows: written } = suffix === ".py" ? codeRows(text, convert) : { rows: textRows(text, suffix === ".json", refuse, convert) };
  let rows = written;
  // A last row and column for the goal itself, at which nobody is asked.
  const isLarger = rows.length === goal + 1 && rows.every((row) => Array.isArray(row) && row.length === goal + 1);
  if (isLarger) rows = rows.slice(0, goal).map((row) => row.slice(0, goal));
  if (rows.length && rows.every((row) => row.length !== goal)) convert(`is not ${goal} rows of ${goal} numbers`);
  return { table: checkedRows(rows, goal, maxDice, least, refuse), player };
}

// Lists in JSON, or lines of cells, between which there are commas, semicolons or white space.
function textRows(text, isJson, refuse, convert) {
  if (isJson || "[{".includes(text.trimStart()[0] ?? " ")) {
    const content = parsed(text);
    if (Array.isArray(content) && content.every(Array.isArray)) return content;
    if (isJson && content === undefined) refuse("is not JSON");
    convert("is no list of lists in JSON");
  }
  const lines = text.split(/\r\n|[\n\r]/).filter((line) => line.trim());
  const mark = [";", ","].find((one) => lines.every((line) => line.includes(one)));
  const rows = lines.map((line) => (mark ? line.split(mark) : line.trim().split(/\s+/)).map(numberOf));
  const words = rows.flatMap((row) => row.filter((cell) => /\p{L}{2}/u.test(cell)));
  if (words.length > 1) convert("has words among its cells");
  return rows;
}

// What a text says in JSON; undefined if it is none.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// A number if the cell is one; otherwise the cell, for a message to show.
function numberOf(cell) {
  const text = cell.trim();
  return /^[+-]?[0-9]{1,9}(\.0*)?$/.test(text) ? Number(text) : text;
}

// --- Python, of which no line is run --------------------------------------------------------------

// What `hogeq export` writes, to the letter: name, cells and the function that reads them.
const EXPORTED = new RegExp(
  String.raw`^"""A strategy for Hog, as a table\."""\n\nPLAYER_NAME = (.*)\n\n` +
    String.raw`# Dice to roll: one line for each own score, .*\nROLLS = \(\n((?: {4}"[0-9a-z-]*",\n)*)\)\n\n\n` +
    String.raw`def final_strategy\(score, opponent_score\):\n {4}"""[^"\\]*"""\n {4}return (.*)\n$`,
);
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

// How the function reads a line of cells.
const ANSWERS = {
  "int(ROLLS[score][opponent_score], 36)": (line) => [...line].map((cell) => (cell === "-" ? cell : Number.parseInt(cell, 36))),
  "int(ROLLS[score][2 * opponent_score : 2 * opponent_score + 2], 16)": (line) => line.match(/../g)?.map((cell) => (/^[0-9a-f]+$/.test(cell) ? Number.parseInt(cell, 16) : cell)) ?? [],
  "int(ROLLS[score][2 * opponent_score : 2 * opponent_score + 2], 16) - 1": (line) => line.match(/../g)?.map((cell) => (/^[0-9a-f]+$/.test(cell) ? Number.parseInt(cell, 16) - 1 : cell)) ?? [],
  [`"-${DIGITS}".index(ROLLS[score][opponent_score]) - 1`]: (line) => [...line].map((cell) => `-${DIGITS}`.indexOf(cell) - 1),
};

// A list alone, with a name and comments before it.
const LISTED = /^((?:[ \t]*(?:#.*)?\n|PLAYER_NAME = .*\n)*)[A-Za-z_]\w* *= *(?=[[(])([-\d\s,[\]()]*)$/;

function codeRows(source, convert) {
  const text = source.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const [, called, lines, answer] = text.match(EXPORTED) ?? [];
  const player = textOf(called);
  if (player !== undefined && Object.hasOwn(ANSWERS, answer)) {
    return { player, rows: lines.split("\n").slice(0, -1).map((line) => ANSWERS[answer](line.slice(5, -2))) };
  }
  const [, head, list] = text.match(LISTED) ?? [];
  const names = head?.match(/^PLAYER_NAME = .*$/gm)?.map((line) => textOf(line.slice(14))) ?? [];
  const rows = list && parsed(list.replaceAll("(", "[").replaceAll(")", "]").replace(/,\s*\]/g, "]"));
  if (Array.isArray(rows) && rows.every(Array.isArray) && !names.includes(undefined)) return { player: names.at(-1), rows };
  return convert("a page runs no code, and takes a .py as hogeq export writes it");
}

// A text as Python writes it; undefined if it is none.
function textOf(literal) {
  const [, mark, inner] = literal?.match(/^(["'])((?:[^\\]|\\.)*)\1$/) ?? [];
  if (inner === undefined || inner.replace(/\\./g, "").includes(mark)) return undefined;
  const said = inner.replace(/\\(?:x(..)|u(.{4})|U(.{8})|(.))/g, (_, two, four, eight, one) => {
    const code = Number.parseInt(two ?? four ?? eight, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : (({ n: "\n", t: "\t", r: "\r" })[one] ?? one ?? "?");
  });
  return said.trim() ? said : undefined;
}

// Whole numbers from 0, or -1, to the most dice, in as many rows as the goal says; the first fault is
// named.
function checkedRows(rows, goal, maxDice, least, refuse) {
  const allowed = `allowed: ${goal} rows of ${goal} whole numbers`;
  const at = (row, column) => `cell (row ${row}, column ${column})`;
  const table = new Uint8Array(goal * goal);
  rows.forEach((cells, row) => {
    if (row === goal) refuse(`${at(row, 0)} is one too many; ${allowed}`);
    if (!Array.isArray(cells)) refuse(`row ${row} is ${shownValue(cells)}; ${allowed}`);
    cells.forEach((cell, column) => {
      if (column === goal) refuse(`${at(row, column)} is one too many; ${allowed}`);
      if (!(Number.isInteger(cell) && cell >= least && cell <= maxDice)) {
        refuse(`${at(row, column)} is ${shownValue(cell)}; allowed: whole numbers from ${least} to ${maxDice}`);
      }
      table[row * goal + column] = cell < 0 ? maxDice + 1 : cell;
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
// A file's name as a shell reads it.
function typedName(name) {
  return /^[\w.,:/@%+=-]+$/.test(name) ? name : `'${shownText(name).replaceAll("'", `'"'"'`)}'`;
}

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
