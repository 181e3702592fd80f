// Why a best roll looks strange: the rule that makes it so, as hogeq.pages.book found it.

function reasonsOf(edition) {
  return edition.book.map(([name, own, other, memory, best, target, text]) => ({ name, own, other, memory, best, target, text }));
}

// The reason at a position, if something is told of it.
function reasonAt(edition, own, other, memory) {
  const found = reasonsOf(edition).find((one) => one.own === own && one.other === other && one.memory === memory);
  return found?.text ?? null;
}
