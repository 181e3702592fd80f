const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("map"), said = document.getElementById("position");
const dark = matchMedia("(prefers-color-scheme: dark)");
let at = [0, 0];

function colour(cost) {
  // Cube roots: positions that cost a thousandth of the worst can still be seen.
  const share = data.most > 0 ? Math.cbrt(cost / data.most) : 0;
  const none = dark.matches ? [30, 35, 40] : [243, 244, 245];
  const full = dark.matches ? [255, 143, 120] : [165, 25, 35];
  return none.map((part, index) => Math.round(part + (full[index] - part) * share));
}

function draw() {
  const goal = data.dice.length;
  canvas.width = canvas.height = goal;
  const context = canvas.getContext("2d"), image = context.createImageData(goal, goal);
  data.costs.forEach((row, own) => row.forEach((cost, other) => {
    image.data.set([...colour(cost), 255], 4 * ((goal - 1 - own) * goal + other));
  }));
  context.putImageData(image, 0, 0);
}

function tell(other, own) {
  const last = data.dice.length - 1;
  at = [Math.max(0, Math.min(last, other)), Math.max(0, Math.min(last, own))];
  const [column, row] = at, cost = data.costs[row][column];
  const roll = data.dice[row][column], best = data.best[row][column];
  const judged = roll === best || cost === 0 ? "nothing is lost"
    : `${best} would be best; loses ${(100 * cost).toFixed(4)} pp`;
  said.textContent = `At ${row} against ${column} it rolls ${roll}: ${judged}.`;
}

if (canvas) {
  const goal = data.dice.length;
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    tell(Math.floor((event.clientX - box.left) / box.width * goal),
      goal - 1 - Math.floor((event.clientY - box.top) / box.height * goal));
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step) return;
    event.preventDefault();
    tell(at[0] + step[0], at[1] + step[1]);
  });
  dark.addEventListener("change", draw);
  draw();
}
