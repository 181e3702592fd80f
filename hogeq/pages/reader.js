// A table out of a file, read with suspicion: as hogeq.strategies.forms reads it, in the same words.

const SUFFIXES = [".csv", ".tsv", ".txt", ".json", ".py"]; // that the dialog for files offers
const TEXT_BYTES_PER_CELL = 128;
const KEY = /^\s*[([]?\s*([0-9]{1,4})(?:\s*,\s*|\s+)([0-9]{1,4})\s*[)\]]?\s*$/;
const KEY_LENGTH = 40;

// Titles of columns, in small letters.
const SCORE = ["score", "own", "own_score", "my_score", "player", "player_score", "row", "s"];
const OPPONENT = ["opponent", "opponent_score", "opp", "opp_score", "other", "other_score", "o"];
const ROLLS = ["rolls", "roll", "best_roll", "dice", "num_rolls", "num_dice", "action", "strategy", "value"];
const MOST_KEYS = 8; // of an object that holds a table under one of them
const BEFORE_LIST = 2000; // characters of a program before its list

class TableError extends Error {}

// Name and bytes of a file -> its table, Uint8Array (G * G) of choices by their numbers, own score
// first, and the name of its player, if it has one; or a TableError.
function readTable(name, bytes, { goal, maxDice, least = 0, names = [], title = "" }) {
  const refuse = (why) => {
    throw new TableError(`${shownText(name)}: ${why}`);
  };
  const suffix = (name.match(/\.[^.]*$/) ?? [""])[0].toLowerCase();
  const start = [...new Uint8Array(bytes, 0, Math.min(6, bytes.byteLength))];
  if (String.fromCharCode(...start) === "\x93NUMPY" || String.fromCharCode(...start.slice(0, 2)) === "PK") {
    refuse(`a page reads text alone; make some of it with: hogeq export ${shownText(name)} --out table.csv`);
  }
  const most = 2 ** 20 + TEXT_BYTES_PER_CELL * goal * goal;
  if (bytes.byteLength > most) refuse(`has ${bytes.byteLength} bytes; allowed: ${most} for a strategy`);
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    refuse("is not UTF-8 text");
  }
  if (isSavedGame(text)) refuse("is a saved game; allowed here: a table; Learn opens games");
  const { player, rows: written } = suffix === ".py" ? codeRows(text, goal, refuse, `${shownText(name)} --rules ${names.find((one) => title.startsWith(one)) ?? names[0] ?? "GAME"}`) : { rows: formOf(text, suffix === ".json", goal, maxDice, refuse) };
  let rows = written;
  // A last row and column for the goal itself, at which nobody is asked.
  const isLarger = rows.length === goal + 1 && rows.every((row) => Array.isArray(row) && row.length === goal + 1);
  if (isLarger) rows = rows.slice(0, goal).map((row) => row.slice(0, goal));
  return { table: checkedRows(rows, goal, maxDice, least, refuse), player };
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
  [`"-${DIGITS}".index(ROLLS[score][opponent_score]) - 1`]: (line) => [...line].map((cell) => `-${DIGITS}`.indexOf(cell) - 1),
};

// A list alone, with a name and comments before it.
const LISTED = /^((?:[ \t]*(?:#.*)?\n|PLAYER_NAME = .*\n)*)[A-Za-z_]\w* *= *(?=[[(])([-\d\s,[\]()]*)$/;

function codeRows(source, goal, refuse, asked) {
  const text = source.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const [, called, lines, answer] = text.match(EXPORTED) ?? [];
  const player = textOf(called);
  if (player !== undefined && Object.hasOwn(ANSWERS, answer)) {
    return { player, rows: lines.split("\n").slice(0, -1).map((line) => ANSWERS[answer](line.slice(5, -2))) };
  }
  const [, head, list] = text.match(LISTED) ?? [];
  const names = head?.match(/^PLAYER_NAME = .*$/gm)?.map((line) => textOf(line.slice(14))) ?? [];
  if (list && !names.includes(undefined)) return { player: names.at(-1), rows: bracketRows(list, goal, refuse) };
  return refuse(`a page runs no code, and takes a .py as hogeq export writes it; make a table of this one with: hogeq export ${asked} --trust --out table.csv`);
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

function formOf(text, isJson, goal, maxDice, refuse) {
  const start = text.trimStart();
  if (isJson || "[{".includes(start[0] ?? " ")) {
    const content = parsed(text);
    if (content !== undefined) return objectRows(content, text, goal, refuse);
    if (isJson) refuse("is not JSON");
  }
  const declared = start.slice(0, BEFORE_LIST).match(/(?:^|[=(])\s*(?=[[{(]\s*[[{(])/);
  if (declared) return bracketRows(start.slice(declared.index + declared[0].length), goal, refuse);
  return lineRows(text, goal, maxDice, refuse);
}

// Lists as Python, numpy, C or Java print them.
function bracketRows(text, goal, refuse) {
  if (text.includes("...")) refuse("is a list printed with parts left out (...); allowed: all of it");
  const square = text.replace(/[{(]/g, "[").replace(/[})]/g, "]");
  const rest = square.replace(/\[[^[\]]*\]/g, "");
  if (!/^\s*\[[\s,]*\](?:[\s,]*dtype=[\w.]+)?[\s;,\]]*$/.test(rest)) refuse(`is no list of ${goal} lists of ${goal} numbers`);
  return square.match(/\[[^[\]]*\]/g).map((row) => cellsOf(row.slice(1, -1).trimEnd().replace(/,$/, ""), ",").map(numberOf));
}

function lineRows(text, goal, maxDice, refuse) {
  let lines = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/).filter((line) => line.trim());
  const digits = new RegExp(`^\\s*[0-9aA]{${goal}}\\s*$`);
  if (goal > 1 && lines.length === goal && lines.every((line) => digits.test(line))) {
    return lines.map((line) => [...line.trim()].map((cell) => Number.parseInt(cell, 36)));
  }
  const split = () => {
    const counts = [...",;"].map((mark) => lines.filter((line) => line.includes(mark)).length);
    const mark = counts[1] > counts[0] ? ";" : ",";
    return lines.map((line) => (Math.max(...counts) ? quotedCells(line, mark) : cellsOf(line, null)).map(numberOf));
  };
  let rows = split();
  if (!rows.length) return rows;
  if (rows[0].every((cell) => typeof cell === "string")) {
    const titles = rows[0].map(titleOf);
    if (titles.some((title) => SCORE.includes(title)) && titles.some((title) => OPPONENT.includes(title))) {
      return recordRows(rows[0], rows.slice(1), goal, refuse);
    }
  }
  if (rows.length > goal && rows[0].length !== rows[1]?.length && /^\s*\p{L}/u.test(lines[0])) {
    lines = lines.slice(1);
    rows = split();
  }
  if (goal > 1 && rows.length >= goal * goal) {
    const filled = withoutHeader(rows, goal, refuse);
    if (filled) return filled;
  }
  if (rows.every((row) => row.at(-1) === "")) rows = rows.map((row) => row.slice(0, -1));
  return withoutLabels(rows, goal, maxDice, refuse) ?? rows;
}

// A table from lines of own score, opponent's, dice and a chance that is not always whole; or null.
function withoutHeader(rows, goal, refuse) {
  const isWide = (width) => rows.every((row) => row.length === width);
  if (isWide(3)) {
    refuse(`has ${rows.length} lines of 3 cells and no header; allowed: a first line that says which column is score, opponent_score and rolls`);
  }
  const isWhole = rows.every((row) => row.slice(0, 3).every(Number.isInteger));
  const isChance = rows.every((row) => typeof row[3] === "number" && row[3] >= 0 && row[3] <= 1);
  if (!isWide(4) || !isWhole || !isChance) return null;
  if (rows.every((row) => Number.isInteger(row[3]))) return null;
  if (rows.reduce((sum, row) => sum + (row[0] - row[1]) * row[3], 0) < 0) {
    refuse("has lines of 4 cells and no header, whose chance falls with the first; allowed: the own score first, or a first line that names the columns");
  }
  return recordRows(["score", "opponent", "rolls", "chance"], rows, goal, refuse);
}

function cellsOf(line, mark) {
  return mark && line.includes(mark) ? line.split(mark) : line.split(/\s+/).filter(Boolean);
}

function quotedCells(line, mark) {
  const plain = line.split(mark);
  const isQuoted = plain.every((cell) => /^\s*"[^"]*"\s*$/.test(cell));
  return isQuoted ? plain.map((cell) => cell.trim().slice(1, -1)) : plain;
}

function titleOf(cell) {
  return cell.toLowerCase().replace(/[^a-z]+/g, "_").replace(/^_+|_+$/g, "");
}

// The cells of a table whose first row or column is the scores; null if it has neither.
function withoutLabels(rows, goal, maxDice, refuse) {
  for (const size of [goal, goal + 1]) {
    const scores = (cells) => cells.length === size && cells.every((cell, score) => cell === score);
    const above = rows.length === size + 1 && scores(rows[0].slice(-size));
    const below = above ? rows.slice(1) : rows;
    const beside = scores(below.map((row) => row[0])) && below.every((row) => row.length === size + 1);
    const corner = above && rows[0].length > size ? rows[0][0] : "";
    const cells = () => (beside ? below.map((row) => row.slice(1)) : below);
    if (above && beside && typeof corner === "string" && size > 1) {
      if (/opp|other/.test(corner.toLowerCase())) {
        refuse(`has the corner ${quoted(corner)}, by which rows may be the opponent's scores; allowed: an empty corner, and a row for each own score`);
      }
      return cells();
    }
    if (above !== beside && corner === "" && goal - 1 > maxDice) return cells();
  }
  return null;
}

// A table from records of two scores and a number of dice, by the names of the columns.
function recordRows(header, records, goal, refuse) {
  const titles = header.map(titleOf);
  const columns = [SCORE, OPPONENT, ROLLS].map((known) => {
    const matches = titles.flatMap((title, column) => (known.includes(title) ? [column] : []));
    if (matches.length !== 1) refuse(`has columns ${shownValue(header)}; allowed: one called score, one opponent_score and one rolls`);
    return matches[0];
  });
  const cells = new Map();
  records.forEach((record, i) => {
    if (record.length !== header.length) refuse(`record ${i + 1} has ${record.length} of ${header.length} cells`);
    const [own, other, rolls] = columns.map((column) => record[column]);
    if (![own, other].every((one) => Number.isInteger(one) && one >= 0 && one <= goal)) {
      refuse(`record ${i + 1} has scores ${shownValue(own)} and ${shownValue(other)}; allowed: 0 to ${goal - 1}`);
    }
    if (Math.max(own, other) < goal) put(cells, own, other, rolls, goal, `in record ${i + 1} too`, refuse);
  });
  return filled(cells, goal, refuse);
}

function put(cells, row, column, value, goal, again, refuse) {
  if (cells.has(row * goal + column)) refuse(`cell (row ${row}, column ${column}) stands twice, ${again}`);
  cells.set(row * goal + column, value);
}

function filled(cells, goal, refuse) {
  return Array.from({ length: goal }, (_, row) =>
    Array.from({ length: goal }, (_, column) => {
      if (!cells.has(row * goal + column)) {
        refuse(`cell (row ${row}, column ${column}) is missing; allowed: ${goal * goal} entries`);
      }
      return cells.get(row * goal + column);
    }),
  );
}

// A number if the cell is one; otherwise the cell, for a message to show.
function numberOf(cell) {
  const text = cell.trim();
  if (/^[+-]?[0-9]{1,9}$/.test(text)) return Number(text);
  if (/^[+-]?[0-9]{1,30}\.[0-9]{0,30}([eE][+-]?[0-9]{1,3})?$/.test(text)) return Number(text);
  return text;
}

// What a text says in JSON; undefined if it is none.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function objectRows(content, text, goal, refuse) {
  if (Array.isArray(content)) {
    if (!content.length || !content.every(isObject)) return content;
    const header = Object.keys(content[0]);
    if (content.some((one) => Object.keys(one).join("\n") !== header.join("\n"))) refuse("is a list of records whose keys differ");
    return recordRows(header, content.map((one) => Object.values(one)), goal, refuse);
  }
  if (!isObject(content)) {
    refuse(
      `is ${shownValue(content)}; allowed: a list of ${goal} lists of ${goal} numbers or an ` +
        `object of ${goal * goal} numbers`,
    );
  }
  const values = Object.values(content);
  const tables = values.filter((value) => value !== null && typeof value === "object");
  if (tables.length === 1 && values.length <= MOST_KEYS && goal > 1) return objectRows(tables[0], text, goal, refuse);
  if (tables.length && tables.length === values.length) {
    return byScore(content, goal, refuse, "row").map((row, score) => (isObject(row) ? byScore(row, goal, refuse, `row ${score}, column`) : row));
  }
  // JSON.parse keeps the last of two equal keys; no allowed key has a colon.
  if ((text.match(/"\s*:/g) ?? []).length !== values.length) refuse("a key stands twice");
  return byScores(content, goal, refuse);
}

// Values in the order of their keys, one score each.
function byScore(entries, goal, refuse, what) {
  const wanted = Array.from({ length: goal }, (_, score) => String(score));
  const unknown = Object.keys(entries).find((key) => !wanted.includes(key) && key !== String(goal));
  if (unknown !== undefined) refuse(`${what} ${quoted(unknown)}; allowed: 0 to ${goal - 1}`);
  const missing = wanted.find((key) => !Object.hasOwn(entries, key));
  if (missing !== undefined) refuse(`${what} ${missing} is missing; allowed: 0 to ${goal - 1}`);
  return wanted.map((key) => entries[key]);
}

function byScores(entries, goal, refuse) {
  const cells = new Map();
  for (const [key, value] of Object.entries(entries)) {
    const scores = key.length <= KEY_LENGTH ? key.match(KEY) : null;
    const [row, column] = scores ? [Number(scores[1]), Number(scores[2])] : [goal, goal];
    if (Math.max(row, column) >= goal) {
      refuse(
        `key ${quoted(key)}; allowed: two scores from 0 to ${goal - 1}, own first, as "12,30" or ` +
          '"(12, 30)"',
      );
    }
    put(cells, row, column, value, goal, `as ${quoted(key)} too`, refuse);
  }
  return filled(cells, goal, refuse);
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
