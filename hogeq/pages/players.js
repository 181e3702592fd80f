// Who can be played against.

const PERFECT = { id: "perfect", label: "Optimal play", kind: "perfect", about: "Plays optimally and remembers everything." };
const FRIEND = { id: "friend", label: "A friend", kind: "friend", about: "Two people at one screen." };

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

// All that can be played against in a game, the strongest first; `own` are tables out of files.
function opponentsOf(edition, own = []) {
  const shipped = [...edition.tables].map(([name, table]) =>
    tablePlayer(name, table, labelOf(name), sentence(edition.about.get(name) ?? "")),
  );
  return [PERFECT, ...shipped, ...own, FRIEND];
}

function sentence(text) {
  return text ? `${text[0].toUpperCase()}${text.slice(1)}.` : "";
}

// Exact values of a game against somebody. Against a table they count on its very rolls, and on the
// best play of the person from the next turn on; otherwise on the best play of both.
function valuesAgainst(edition, opponent) {
  return opponent.kind === "table" ? edition.against(opponent.id, opponent.table) : edition.solved();
}

function countingOn(opponent) {
  return opponent.kind === "table" ? `best play against this table: ${opponent.label}` : "best play of both";
}

// Dice that an opponent rolls.
async function choiceOf(edition, opponent, state) {
  const [own, other, memory] = viewOf(state);
  if (opponent.kind === "table") return opponent.table[own * edition.goal + other];
  return (await edition.solved()).best(own, other, memory);
}
