// What is on the page: the game in play, the screens that show it, and who wants to hear of what.

const screens = [];

// Add a screen. `mount` is called once with its section and the board; `shown` whenever it comes up.
function screen(name, title, parts) {
  screens.push({ name, title, ...parts });
}

class Board {
  constructor(packed) {
    this.packed = packed;
    this.editions = new Map(); // promises, by place in the page
    this.listeners = new Map();
    this.edition = null;
    this.game = null;
    this.opponent = null;
  }

  on(what, listener) {
    if (!this.listeners.has(what)) this.listeners.set(what, []);
    this.listeners.get(what).push(listener);
  }

  emit(what, ...told) {
    for (const listener of this.listeners.get(what) ?? []) listener(...told);
  }

  editionAt(place) {
    if (!this.editions.has(place)) {
      this.editions.set(place, unpackEdition(this.packed[place].packed));
    }
    return this.editions.get(place);
  }

  // Another game on the table: the page's `place`-th, unless another is chosen while it is unpacked.
  async choose(place) {
    this.wanted = place;
    const edition = await this.editionAt(place);
    if (place !== this.wanted || edition === this.edition) return;
    this.place = place;
    this.edition = edition;
    this.emit("edition", edition);
  }

  // A game has begun, or has been opened.
  begin(game, opponent) {
    this.game = game;
    this.opponent = opponent;
    this.emit("game", game);
  }

  moved() {
    this.emit("move", this.game);
    if (this.game.over) this.emit("over", this.game);
  }

  // What names no screen leaves the one that is shown: the link that skips to the content does.
  show(name) {
    const found = screens.find((one) => one.name === name) ?? this.showing ?? screens[0];
    if (this.showing === found) return this.link();
    this.showing = found;
    this.link();
    for (const one of screens) {
      one.section.hidden = one !== found;
      if (one === found) one.tab.setAttribute("aria-current", "page");
      else one.tab.removeAttribute("aria-current");
    }
    found.shown?.();
    return undefined;
  }

  // The address leads back here: `#train`, and of a screen that says more, `#know/fa25/12-30`,
  // or is a game, `#learn/fa25/0.0.0-35-0-4/Ann/Bob`.
  link() {
    const place = this.showing.link?.() ?? "";
    history.replaceState(null, "", `#${this.showing.name}${place}`);
  }

  // A short name of the game on the table: the first word of its title, where that tells it apart.
  get shortTitle() {
    const words = this.packed.map(({ title }) => title.split(" ")[0]);
    const word = words[this.place];
    return words.filter((one) => one === word).length === 1 ? word : this.packed[this.place].title;
  }

  // Go where an address leads.
  async follow(hash) {
    const [name, title, ...place] = hash.slice(1).split("/").map(decoded);
    const at = this.packed.findIndex((one) => one.title === title || one.title.split(" ")[0] === title);
    if (title !== undefined && at >= 0) await this.choose(at);
    this.show(name);
    if (at >= 0 && place.length) await this.showing.follow?.(...place);
  }
}

// What a part of an address says; nothing, if it is none.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
