const data = JSON.parse(document.getElementById("data").textContent);
const part = document.getElementById("map");

function tell(row, column) {
  const loss = data.losses[row][column];
  const roll = data.dice[row][column];
  const best = data.best[row][column];
  const judged = roll === best || loss === 0 ? "nothing is lost" : `${best} would be best; loss ${pp(loss).replace("+", "")}`;
  document.getElementById("position").textContent = `At ${row} against ${column} it rolls ${roll}: ${judged}.`;
}

if (part) {
  const grid = new Grid({
    label: "Loss at every position: own score upwards, opponent's to the right; arrow keys move, with Shift by ten",
    rows: "own score",
    columns: "opponent's score",
    choose: tell,
    hover: true,
  });
  part.append(grid.frame);
  const draw = () => {
    const stops = LOSS[DARK.matches ? "dark" : "light"];
    grid.show(data.dice.length, (row, column) => colourAt(stops, lossShare(data.losses[row][column], data.most)));
    fillRamp(document.getElementById("scale"), stops, "loses nothing", `loses ${pp(data.most).replace("+", "")}`);
  };
  DARK.addEventListener("change", draw);
  draw();
}
