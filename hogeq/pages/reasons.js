// Why a best roll looks strange: the rule that makes it so, as hogeq.pages.book found it.

// Whether a rule did something, as effects in edition.js tells it; `land` are the steps of the score.
const RULE_FIRES = {
  landing: (way, land) => land.becomes !== land.squared,
  square_swine: (way, land) => land.squared !== land.reached,
  swap: (way, land) => land.swaps,
  more_boar: (way) => way.boar,
  piggy_back: (way) => way.gift > 0,
};

// How often a rule fires in a roll; null where that says nothing.
function firesIn(edition, view, dice, rule) {
  const fires = RULE_FIRES[rule];
  if (!fires) return null;
  const [own, other] = view;
  return edition
    .outcomes(...view, dice)
    .reduce((sum, way) => sum + (fires(way, edition.landing(own, other, way)) ? way.probability : 0), 0);
}

function reasonsOf(edition) {
  return edition.book.reasons.map(([rule, own, other, memory, best, forgot, loss, gainBest, gainForgot]) => ({
    rule,
    name: edition.book.names[rule],
    own,
    other,
    memory,
    best,
    forgot,
    loss,
    gainBest,
    gainForgot,
    target: gainBest >= -gainForgot, // the rule helps the best roll; otherwise it harms the other
  }));
}

// What the rule does to a choice: what happens, if no dice are rolled, or how often.
function ruleOnRoll(edition, reason, dice) {
  const view = [reason.own, reason.other, reason.memory];
  if (dice === 0 || dice > edition.maxDice) {
    const turn = edition.play(...view, dice === 0 ? [] : null);
    const scored = `${dice === 0 ? "No dice score" : "-1 scores"} ${counted(turn.points, "point")}`;
    return [scored, ...turn.effects.slice(1)].join("; ");
  }
  if (reason.rule === "hog_wild") return `${reason.name} makes ${dice === 1 ? "the die" : `the ${dice} dice`} ${edition.sides(...view)}-sided`;
  const often = firesIn(edition, view, dice, reason.rule);
  return often === null ? `${reason.name} counts with ${edition.diceText(dice)}` : `${reason.name} fires in ${percent(often, 1)} of rolls of ${edition.diceText(dice)}`;
}

function reasonText(edition, reason) {
  const { forgot, loss, gainBest, gainForgot, target } = reason;
  const mostly = target
    ? `${ruleOnRoll(edition, reason, reason.best)}: that is worth ${lossText(gainBest)} pp`
    : `${ruleOnRoll(edition, reason, forgot)}: that takes ${lossText(-gainForgot)} pp`;
  return `${mostly}. A player who forgets it rolls ${edition.diceText(forgot)}, and loses ${lossText(loss)} pp.`;
}

// The same for a position, if something is told of it.
function reasonAt(edition, own, other, memory) {
  const found = reasonsOf(edition).find((one) => one.own === own && one.other === other && one.memory === memory);
  return found ? reasonText(edition, found) : null;
}
