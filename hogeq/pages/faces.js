// Dice, drawn.

const PIPS = [
  [],
  [[2, 2]],
  [[1, 1], [3, 3]],
  [[1, 1], [2, 2], [3, 3]],
  [[1, 1], [1, 3], [3, 1], [3, 3]],
  [[1, 1], [1, 3], [2, 2], [3, 1], [3, 3]],
  [[1, 1], [1, 2], [1, 3], [3, 1], [3, 2], [3, 3]],
];

// One die that shows a number: pips on six sides, a digit on any others.
function dieFace(value, sides = 6) {
  const shape =
    sides === 6
      ? svg("rect", { x: 2, y: 2, width: 60, height: 60, rx: 13 })
      : svg("path", { d: outline(sides) });
  const marks =
    sides === 6
      ? PIPS[value].map(([x, y]) => svg("circle", { cx: 16 * x, cy: 16 * y, r: 5.6 }))
      : [svg("text", { x: 32, y: sides === 4 ? 47 : 41 }, String(value))];
  return svg(
    "svg",
    { viewBox: "0 0 64 64", class: `die${value === 1 ? " one" : ""}`, role: "img", "aria-label": String(value) },
    shape,
    ...marks,
  );
}

// A polygon that reminds of the solid: a triangle for 4 sides, otherwise a hexagon.
function outline(sides) {
  if (sides === 4) return "M32 5 60 57 4 57Z";
  return "M32 2 59 17 59 47 32 62 5 47 5 17Z";
}
