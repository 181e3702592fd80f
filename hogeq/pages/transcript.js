// Transcripts: a game as JSON. Its dice are played again, and all else in a file has to follow from them.

const TRANSCRIPT = "hogeq transcript";
const TRANSCRIPT_VERSION = 1;
const TRANSCRIPT_BYTES = 2 ** 20;
const LONGEST_NAME = 60;
const DEEPEST = 20;
const NAMES_ALLOWED = `two different names of 1 to ${LONGEST_NAME} printable characters`;

function isSavedGame(text) {
  return text.includes(`"${TRANSCRIPT}"`);
}

class TranscriptError extends Error {}

// --- writing ------------------------------------------------------------------------------------

function firedBy(turn) {
  return turn.effects.slice(1).map((line) => line.slice(0, line.indexOf(":")));
}

function transcriptOf(game) {
  const turns = game.turns.map(({ before, dice, faces, turn, after }) => ({
    player: before.mover,
    before: before.scores,
    roll: game.edition.choices[dice],
    dice: faces,
    points: turn.points,
    fired: firedBy(turn),
    after: after.scores,
  }));
  return {
    format: TRANSCRIPT,
    version: TRANSCRIPT_VERSION,
    rules: game.edition.rules,
    seed: game.seed,
    players: namesOf(game),
    turns,
    winner: game.state.winner,
  };
}

// Names that can be read again: a file's name may be long, or that of the other player.
function namesOf(game) {
  const [one, two] = game.names.map((name) => {
    const letters = Array.from(name, (letter) => (isPrintable(letter) ? letter : "?"));
    return letters.slice(0, LONGEST_NAME - 4).join("").trim() || "a player";
  });
  return [one, one === two ? `${two} (2)` : two];
}

// One turn a line, as Python writes it.
function transcriptText(game) {
  const { turns, winner, ...head } = transcriptOf(game);
  const tops = Object.entries(head).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  const rows = turns.map((turn) => JSON.stringify(turn)).join(",\n  ");
  return `{${tops.join(",\n ")},\n "turns": [\n  ${rows}],\n "winner": ${winner}}\n`;
}

function saveTranscript(game) {
  const title = game.edition.title.replace(/ \(.*/, "");
  const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 40);
  download(`hog-${name}-${game.seed ?? "game"}.json`, transcriptText(game), "application/json");
}

// --- reading ------------------------------------------------------------------------------------

// Name and bytes of a file, and the editions that may be meant -> a Game; or a TranscriptError.
function readTranscript(name, bytes, editions) {
  try {
    if (bytes.byteLength > TRANSCRIPT_BYTES) refuseGame(`is larger than ${TRANSCRIPT_BYTES} bytes`);
    return gameIn(parsedOnce(bytes), editions);
  } catch (error) {
    if (!(error instanceof TranscriptError)) throw error;
    throw new TranscriptError(`${shownText(name)}: ${error.message}`);
  }
}

function refuseGame(why) {
  throw new TranscriptError(why);
}

function refuseValue(path, given, allowed) {
  refuseGame(`${path ? `${path}: ` : ""}got ${shownValue(given)}; allowed: ${allowed}`);
}

function parsedOnce(bytes) {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    refuseGame("is not UTF-8 text");
  }
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    refuseGame("is not JSON");
  }
  checkTokens(text);
  return content;
}

// What JSON.parse does not tell: of two equal keys it keeps the last, and 2.0 is 2.
function checkTokens(text) {
  const open = [];
  let last = null;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/g)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const keys = open[open.length - 1];
      const key = JSON.parse(last);
      if (keys.has(key)) refuseGame(`key ${quoted(key)} stands twice`);
      keys.add(key);
    } else if (/^-?[0-9]*[.eE]/.test(token)) {
      refuseGame(`got ${quoted(token).slice(1, -1)}; allowed: whole numbers`);
    }
    if (open.length > DEEPEST) refuseGame("is not JSON: nested too deep");
    last = token;
  }
}

// The game of the dice in a file, if all else in it follows from them.
function gameIn(content, editions) {
  if (!isObject(content)) refuseValue("", content, "an object");
  const { format, version, rules, players, turns, seed = null } = content;
  checkSame("format", format, TRANSCRIPT);
  checkSame("version", version, TRANSCRIPT_VERSION);
  const edition = editionOf(rules, editions);
  const pair = Array.isArray(players) && players.length === 2 && players[0] !== players[1];
  if (!pair || !players.every(isName)) refuseValue("players", players, NAMES_ALLOWED);
  const known = seed === null || (Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32);
  if (!known) refuseValue("seed", seed, `whole numbers from 0 to ${2 ** 32 - 1} or null`);
  if (!Array.isArray(turns) || !turns.length) refuseValue("turns", turns, "a list of at least one turn");
  const game = new Game(edition, { first: turns[0]?.player === 1 ? 1 : 0, seed, names: players });
  turns.forEach((turn, number) => {
    const path = `turns[${number}]`;
    if (!isObject(turn) || !Array.isArray(turn.dice)) refuseValue(path, turn, "an object with a list of dice");
    try {
      game.replay(turn.roll < 0 ? null : turn.dice);
    } catch (error) {
      refuseGame(`${path}: ${error.message}`);
    }
  });
  checkSame("", { seed: null, ...content }, { ...transcriptOf(game), rules, players });
  return game;
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

// Refuse the first part of a value that is not what follows.
function checkSame(path, given, follows) {
  if (isObject(given) && isObject(follows)) {
    const at = (key) => (path ? `${path}.${key}` : key);
    const wrong = Object.keys(given).find((key) => !Object.hasOwn(follows, key));
    if (wrong !== undefined) {
      refuseGame(`${at(shownText(wrong))}: unknown key, given ${shownValue(given[wrong])}; allowed: ${Object.keys(follows).sort().join(", ")}`);
    }
    for (const [key, value] of Object.entries(follows)) {
      if (!Object.hasOwn(given, key)) refuseGame(`${at(key)}: missing`);
      checkSame(at(key), given[key], value);
    }
  } else if (Array.isArray(given) && follows.some?.(isObject) && given.length === follows.length) {
    given.forEach((part, place) => checkSame(`${path}[${place}]`, part, follows[place]));
  } else if (canonical(given) !== canonical(follows)) {
    refuseValue(path, given, follows === null ? "null" : shownValue(follows));
  }
}

function isPrintable(text) {
  return /^(?:[^\p{C}\p{Z}]| )+$/u.test(text);
}

function isName(name) {
  return typeof name === "string" && isPrintable(name) && name.trim() !== "" && [...name].length <= LONGEST_NAME;
}

// The one of the page's games that is meant.
function editionOf(rules, editions) {
  const said = canonical(rules);
  const found = editions.find((one) => canonical(one.rules) === said || one.names.includes(rules));
  if (found) return found;
  const names = editions.flatMap((one) => (one.names.length ? one.names : [one.name]));
  refuseValue("rules", rules, `the games on this page, ${names.join(", ")}`);
}

// JSON with keys in order, so that equal things are equal texts.
function canonical(value) {
  return JSON.stringify(value, (_, part) =>
    part && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
