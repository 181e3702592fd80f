// Who can be played against.

const PERFECT = { id: "perfect", label: "Optimal play", kind: "perfect", about: "Never loses anything by a choice, and remembers everything. Commands call it optimal." };
const FRIEND = { id: "friend", label: "A friend", kind: "friend", about: "Two people at one screen." };

const LEVELS = HALVINGS.map((halving, i) => ({
  id: `level ${i + 1}`,
  label: `Level ${i + 1}`,
  kind: "level",
  halving,
  about: `Every roll is possible: half as often for every ${100 * halving} pp that it loses against the best.`,
}));

const LABELS = {
  champion: "The champion",
  ignore_memory: "Ignores the memory",
  hog_wild_heuristic: "Hog Wild heuristic",
};

function labelOf(name) {
  if (LABELS[name]) return LABELS[name];
  const always = name.match(/^always_roll:(\d+)$/);
  if (always) return `Always rolls ${always[1]}`;
  const rule = name.match(/^rise:(\d+),(\d+)$/);
  return rule ? `Simple rule: 0 dice to gain ${rule[1]}, else ${rule[2]}` : name;
}

// A player of a table of dice to roll.
function tablePlayer(id, table, label = labelOf(id), about = "") {
  return { id, label, kind: "table", table, about };
}

// All that can be played against in a game; `own` are tables out of files.
function opponentsOf(edition, own = []) {
  const shipped = [...edition.tables].map(([name, table]) =>
    tablePlayer(name, table, labelOf(name), sentence(edition.about.get(name) ?? "")),
  );
  return [PERFECT, ...[...LEVELS].reverse(), ...shipped, ...own, FRIEND];
}

function sentence(text) {
  return text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "";
}

// The table or the level that a player plays; null where both play optimally.
async function playOf(edition, { kind, table, halving }) {
  return kind === "table" ? table : kind === "level" ? new Level(await edition.solved(), halving) : null;
}

// Exact values of a game against somebody. Against a table or a level they count on its very rolls,
// and on the best play of the person from the next turn on; otherwise on optimal play of both.
async function valuesAgainst(edition, opponent) {
  const theirs = await playOf(edition, opponent);
  return theirs ? edition.against(opponent.id, theirs) : edition.solved();
}

function countingOn({ kind, label }) {
  if (kind === "level") return `best play against ${label}`;
  return kind === "table" ? `best play against this table: ${label}` : "optimal play of both";
}

// Share of games that somebody wins against optimal play.
async function winsOf(edition, opponent) {
  const theirs = await playOf(edition, opponent);
  return theirs ? edition.wins(opponent.id, theirs) : 1 - (await edition.solved()).rate();
}

// Dice that an opponent rolls. A level's choice follows from the seed, as dice do.
async function choiceOf(edition, opponent, { state, seed }) {
  const [own, other, memory] = viewOf(state);
  const theirs = await playOf(edition, opponent);
  if (opponent.kind === "table") return theirs[own * edition.goal + other];
  const share = new Random(seed, state.turns + CHOICES).next() / 2 ** 32;
  return theirs ? theirs.choose(own, other, memory, share) : (await edition.solved()).best(own, other, memory);
}

const CHOICES = 2 ** 20; // no turn has a number as high: its dice come from others
