// The page comes to life.

async function openBoard() {
  const board = new Board(JSON.parse(document.getElementById("data").textContent));
  const tabs = document.getElementById("tabs");
  const main = document.getElementById("screens");
  for (const one of screens) {
    one.tab = h("a", { href: `#${one.name}`, class: "tab" }, one.title);
    one.section = h("section", { id: one.name, class: "screen", "aria-label": one.title, hidden: true });
    tabs.append(one.tab);
    main.append(one.section);
  }
  const pick = document.getElementById("edition");
  pick.append(...board.packed.map(({ title }, i) => h("option", { value: String(i) }, title)));
  document.getElementById("edition-part").hidden = board.packed.length < 2;
  document.getElementById("title").textContent = board.packed.length < 2 ? board.packed[0].title : "";
  board.on("edition", () => {
    pick.value = String(board.place);
  });
  const root = document.documentElement;
  const paint = (dark) => {
    root.dataset.scheme = dark ? "dark" : "light";
    board.emit("scheme");
  };
  paint(DARK.matches);
  DARK.addEventListener("change", () => paint(DARK.matches));
  document.getElementById("lamp").addEventListener("click", () => paint(root.dataset.scheme !== "dark"));
  for (const one of screens) one.mount(one.section, board);
  await board.choose(0);
  pick.addEventListener("change", () => board.choose(Number(pick.value)));
  const goThere = () => board.follow(location.hash);
  addEventListener("hashchange", goThere);
  await goThere();
  await board.edition.solved();
  document.body.dataset.ready = "";
}

openBoard();
