// The map of a table: one square a cell, to point at and to walk over by keys. Every page has this one.

// Viridis (van der Walt and Smith, 2015, CC0), every eighth of it.
const VIRIDIS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
// Of a loss, from none to the most there is: LOSS of hogeq.figures.style, and the same on dark paper.
const LOSS = { light: ["#f3f4f5", "#a51923"], dark: ["#1e2328", "#ff8f78"] };
const EDGE = { left: 34, bottom: 30, top: 6, right: 6 };
const ROW_NAME = 18; // characters of a row's name
const WIDEST = 720;

// The colour of a share from 0 to 1 on a scale of colours, as three numbers.
function colourAt(stops, share) {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const parts = (colour) => [1, 3, 5].map((from) => Number.parseInt(colour.slice(from, from + 2), 16));
  const [from, to] = [parts(stops[low]), parts(stops[low + 1])];
  return from.map((part, i) => Math.round(part + (to[i] - part) * (at - low)));
}

// Where a loss lies on its scale. Cube roots: a thousandth of the most can still be seen.
function lossShare(loss, most) {
  return most > 0 ? Math.cbrt(loss / most) : 0;
}

// What the colours mean: a ramp between two texts.
function fillRamp(element, stops, low, high) {
  const bar = document.createElement("i");
  bar.className = "ramp";
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const texts = [low, high].map((text) => {
    const end = document.createElement("span");
    end.textContent = text;
    return end;
  });
  element.replaceChildren(texts[0], bar, texts[1]);
}

class Grid {
  // `choose` is called with the row and column pointed at. `upward`: row 0 lies below, as scores do;
  // `hover`: pointing is enough, otherwise a press.
  constructor({ label, rows, columns, choose, upward = true, first = 0, hover = false }) {
    Object.assign(this, { rows, columns, choose, upward, first, at: [0, 0], count: 0, names: [], left: EDGE.left });
    this.canvas = document.createElement("canvas");
    this.canvas.className = "grid-canvas";
    this.frame = document.createElement("div");
    this.frame.className = "grid-frame";
    this.frame.tabIndex = 0;
    this.frame.setAttribute("role", "application");
    this.frame.setAttribute("aria-label", label);
    this.frame.append(this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => {
      this.frame.focus({ preventScroll: true });
      this.point(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (hover || (event.buttons && event.pointerType === "mouse")) this.point(event);
    });
    this.frame.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.frame);
  }

  // A table of `count` rows and columns; `colour` gives three numbers for a row and a column.
  show(count, colour) {
    Object.assign(this, { count, colour });
    this.draw();
  }

  // Rows have these names in place of numbers, as far as there is room.
  name(names) {
    this.names = names.map((name) => (name.length > ROW_NAME ? `${name.slice(0, ROW_NAME - 1)}…` : name));
    const longest = Math.max(0, ...this.names.map((name) => name.length));
    this.left = Math.max(EDGE.left, Math.min(24 + 6.5 * longest, 0.4 * this.frame.clientWidth));
  }

  go(row, column) {
    const inside = (place) => Math.max(0, Math.min(this.count - 1, place));
    this.at = [inside(row), inside(column)];
    this.choose(...this.at);
    this.draw();
  }

  // Whether row 0 lies below or above: the same turns one into the other.
  turned(row) {
    return this.upward ? this.count - 1 - row : row;
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - EDGE.top) / this.size);
    this.go(this.turned(row), Math.floor((event.clientX - box.left - this.left) / this.size));
  }

  key(event) {
    const step = event.shiftKey ? 10 : 1;
    const up = this.upward ? step : -step;
    const by = { ArrowUp: [up, 0], ArrowDown: [-up, 0], ArrowRight: [0, step], ArrowLeft: [0, -step] }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.go(this.at[0] + by[0], this.at[1] + by[1]);
  }

  draw() {
    const { count, canvas } = this;
    const width = this.frame.clientWidth;
    if (!count || !width) return;
    const size = (Math.min(width, WIDEST) - this.left - EDGE.right) / count;
    const dots = devicePixelRatio || 1;
    this.size = size;
    const [wide, high] = [count * size + this.left + EDGE.right, count * size + EDGE.top + EDGE.bottom];
    canvas.width = Math.round(wide * dots);
    canvas.height = Math.round(high * dots);
    Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px` });
    const context = canvas.getContext("2d");
    context.scale(dots, dots);
    const small = new OffscreenCanvas(count, count);
    const image = new ImageData(count, count);
    for (let row = 0; row < count; row++) {
      for (let column = 0; column < count; column++) {
        image.data.set([...this.colour(row, column), 255], 4 * (this.turned(row) * count + column));
      }
    }
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, this.left, EDGE.top, count * size, count * size);
    this.drawAxes(context, wide, high);
    const [left, top] = [this.left + this.at[1] * size, EDGE.top + this.turned(this.at[0]) * size];
    for (const [colour, line] of [["#000", 4], ["#fff", 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = line;
      context.strokeRect(left - 1, top - 1, size + 2, size + 2);
    }
  }

  drawAxes(context, wide, high) {
    const { count, size, first } = this;
    const every = [1, 2, 5, 10, 20, 50, 100, 200].find((step) => step * size >= 26) ?? 500;
    context.fillStyle = getComputedStyle(this.canvas).color;
    context.font = "11px system-ui, sans-serif";
    for (let place = 0; place < count; place++) {
      const isNamed = this.names.length && size >= 11;
      const isNumbered = (place + first) % every === 0 || !(place || every < 3);
      context.textAlign = "center";
      if (isNumbered) context.fillText(String(place + first), this.left + (place + 0.5) * size, high - EDGE.bottom + 13);
      context.textAlign = "right";
      if (!isNumbered && !isNamed) continue;
      const text = isNamed ? this.names[place] : String(place + first);
      context.fillText(text, this.left - 4, EDGE.top + (this.turned(place) + 0.5) * size + 4, this.left - 20);
    }
    context.textAlign = "right";
    context.fillText(this.columns, wide - EDGE.right, high - 4);
    context.save();
    context.translate(10, EDGE.top);
    context.rotate(-Math.PI / 2);
    context.fillText(this.rows, 0, 0);
    context.restore();
  }
}
