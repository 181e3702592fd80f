// Who plays whom, who begins, and with which dice; tables of one's own come in here too.

class NewGame {
  // `start` is called with an opponent, who moves first, and a seed; `alert` shows what is wrong with
  // a file that was dropped on the page.
  constructor(board, start, alert) {
    Object.assign(this, { board, start });
    this.own = []; // players of tables out of files
    this.opponent = h("select", { id: "opponent", onchange: () => this.describe() });
    this.about = h("p", { class: "quiet" });
    this.rates = h("p", { class: "rates", "aria-live": "polite" });
    this.first = h("select", { id: "first" }, FIRST.map(([value, text]) => h("option", { value }, text)));
    this.seed = h("input", { id: "seed", type: "text", inputmode: "numeric", pattern: "[0-9]{1,9}", placeholder: "a new one", autocomplete: "off" });
    this.file = h("input", { id: "own-table", type: "file", accept: SUFFIXES.join(","), onchange: () => this.choose() });
    this.alert = h("p", { class: "alert", role: "alert" });
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", {}, "New game"),
      h("label", {}, "Against", this.opponent),
      this.about,
      this.rates,
      h("label", {}, "Who moves first", this.first),
      h("label", {}, "Seed of the dice", this.seed),
      h("label", {}, "A table of your own", this.file),
      this.alert,
      h("div", { class: "tools" }, h("button", { class: "button main", type: "submit" }, "Play"), button("Cancel", () => this.box.close())),
    );
    form.noValidate = true;
    form.addEventListener("submit", (event) => this.submit(event));
    this.box = h("dialog", { class: "box", "aria-label": "New game" }, form);
    this.takeDrops(alert);
  }

  opponents() {
    const { edition } = this.board;
    return opponentsOf(edition, this.own.filter((one) => one.edition === edition));
  }

  ask() {
    this.list(this.board.opponent?.id);
    this.alert.textContent = "";
    this.box.showModal();
  }

  list(chosen) {
    const all = this.opponents();
    this.opponent.replaceChildren(...all.map(({ id, label }) => h("option", { value: id }, label)));
    this.opponent.value = all.some(({ id }) => id === chosen) ? chosen : PERFECT.id;
    this.describe();
    this.rate(all);
  }

  // Beside each opponent the share of games that it wins against optimal play, as it is computed.
  async rate(all) {
    const { edition } = this.board;
    for (const opponent of all.filter(({ kind }) => kind !== "friend")) {
      const wins = await winsOf(edition, opponent);
      const option = [...this.opponent.options].find(({ value }) => value === opponent.id);
      if (this.board.edition !== edition || !this.box.open || !option) return;
      option.textContent = `${opponent.label}: ${percent(wins)}`;
    }
  }

  get chosen() {
    return this.opponents().find((one) => one.id === this.opponent.value);
  }

  async describe() {
    const { chosen } = this;
    this.about.textContent = chosen.about;
    this.rates.textContent = "";
    if (chosen.kind === "friend") return;
    const { edition } = this.board;
    const [wins, most] = [await winsOf(edition, chosen), (await valuesAgainst(edition, chosen)).rate()];
    if (this.board.edition !== edition || this.chosen.id !== chosen.id) return;
    this.rates.replaceChildren("It wins ", h("b", {}, percent(wins)), " of games against optimal play. You can win ", h("b", {}, percent(most)), " against it, and no more. Exact, a coin decides who moves first.");
  }

  submit(event) {
    event.preventDefault();
    if (!this.seed.checkValidity()) {
      this.alert.textContent = `seed: got ${quoted(this.seed.value)}; allowed: up to 9 digits`;
      return;
    }
    this.box.close();
    this.start(this.chosen, this.first.value, this.seed.value === "" ? newSeed() : Number(this.seed.value));
  }

  // --- tables out of files ---------------------------------------------------------------------

  async choose() {
    const player = await this.take(this.file.files[0], this.alert);
    this.file.value = "";
    if (player) this.list(player.id);
  }

  // The player of a file's table; null, and why in `alert`, if it holds none.
  async take(file, alert) {
    alert.textContent = "";
    if (!file) return null;
    try {
      const { edition } = this.board;
      const { table, player: called } = readTable(file.name, await file.arrayBuffer(), edition);
      const id = `own ${this.own.length + 1}: ${file.name}`;
      const player = { ...tablePlayer(id, table, shownText(called ?? file.name), "A table of your own."), edition };
      this.own.push(player);
      return player;
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
      alert.textContent = error.message;
      return null;
    }
  }

  // A file that is dropped anywhere on the page is played against at once.
  takeDrops(alert) {
    const over = (on) => document.body.classList.toggle("dropping", on);
    addEventListener("dragover", (event) => {
      event.preventDefault();
      over(true);
    });
    addEventListener("dragleave", () => over(false));
    addEventListener("drop", async (event) => {
      event.preventDefault();
      over(false);
      const [file] = event.dataTransfer.files;
      if (file && file.size <= TRANSCRIPT_BYTES && isSavedGame(await file.text())) {
        this.board.show("learn");
        await this.board.learn.open(file);
        return;
      }
      this.board.show("play");
      const player = await this.take(file, alert);
      if (player) this.start(player);
    });
  }
}

const FIRST = [
  ["coin", "A coin decides"],
  ["you", "You"],
  ["them", "The other"],
];
