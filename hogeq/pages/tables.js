// Tables, and what stands beside them.

function escapeHtml(text) {
  const element = document.createElement("span");
  element.textContent = text;
  return element.innerHTML;
}

// Rows of texts; a cell may also be {text, className}.
function fillTable(id, header, rows, classes = []) {
  const table = document.getElementById(id);
  table.replaceChildren();
  if (header.length) {
    const row = table.createTHead().insertRow();
    header.forEach((text) => row.append(cellOf("th", { text, scope: "col" })));
  }
  const body = table.createTBody();
  rows.forEach((cells, index) => {
    const row = body.insertRow();
    if (classes[index]) row.className = classes[index];
    cells.forEach((cell, column) =>
      row.append(
        cellOf(column ? "td" : "th", { ...asCell(cell), ...(column ? {} : { scope: "row" }) }),
      ),
    );
  });
}

function asCell(cell) {
  return typeof cell === "object" && cell !== null ? cell : { text: cell };
}

function cellOf(tag, { text, scope, className }) {
  const cell = document.createElement(tag);
  cell.textContent = text;
  if (scope) cell.scope = scope;
  if (className) cell.className = className;
  return cell;
}

// What is known to have saturated, or not: a figure that more effort would raise is marked.
function effortText(effort, saturated) {
  const kicks = effort.kicks ? `, ${counted(effort.kicks, "kick")}` : "";
  const mark = saturated === false ? "; twice the effort would find more, by estimate" : "";
  const steps = counted(effort.anneal_steps, "step");
  return `${counted(effort.starts, "start")}, ${steps}${kicks}${mark}`;
}

// A sentence about the run that is hardest to beat; empty where no run has figures.
function summaryOf({ runs, strategies }) {
  const interval = (name, figures) => {
    const counter = strategies.find((one) => one.name === name)?.explored?.counter;
    const ends = [figures, counter && { attack: counter.win_rate, bound: counter.bound }].filter(Boolean);
    return ends.length ? [Math.max(...ends.map(({ attack }) => attack)), Math.min(...ends.map(({ bound }) => bound))] : null;
  };
  const wins = ([attack, bound]) => `wins ${atLeast(attack)} of games; none can win more than ${atMost(bound)}`;
  const found = runs.map(({ name, found: figures }) => ({
    name,
    policy: interval(`${name}: average policy`, figures.average_policy),
    matrix: interval(`${name}: matrix`, figures.matrix),
  }));
  const [best] = found.filter(({ policy }) => policy).sort((a, b) => a.policy[0] - b.policy[0]);
  if (!best) return "";
  const who = runs.length === 1 ? best.name : `Of ${runs.length} runs, ${best.name} is the hardest to beat`;
  const matrix = best.matrix ? `. Against its matrix one ${wins(best.matrix)}` : "";
  return `${who}: against its average policy a table found ${wins(best.policy)}${matrix}.`;
}

function fillFigures(data) {
  const rows = data.runs.flatMap((run) =>
    [
      ["mixture", run.mixture],
      ["average policy", run.policy],
      ["matrix", run.matrix],
    ]
      .filter(([, found]) => found)
      .map(([what, found]) => [
        `${run.name}: ${what}`,
        atLeast(found.attack),
        atMost(found.bound),
        run.solver,
        run.iterations,
        effortText(found.effort ?? run.effort, found.saturation?.saturated),
      ]),
  );
  fillTable(
    "figures",
    ["strategy", "attack", "bound", "solver", "iterations", "effort of the attack"],
    rows,
  );
}

function fillMetrics(data) {
  const mixtures = data.runs.some(({ metrics }) => metrics.mixture_attack);
  const rows = data.runs.flatMap(({ name, metrics }) =>
    (metrics.iteration ?? []).map((iteration, i) => [
      name,
      iteration,
      fixed(metrics.seconds[i], 2),
      atLeast(metrics.attack[i]),
      atMost(metrics.bound[i]),
      atLeast(metrics.purified_attack[i]),
      ...(mixtures ? [atLeast(metrics.mixture_attack?.[i])] : []),
    ]),
  );
  const header = ["run", "iteration", "seconds", "attack", "bound", "attack on the matrix"];
  if (mixtures) header.push("attack on the mixture");
  fillTable("metrics", header, rows);
}

function fillTournament(data) {
  const { win_rates: rates, win, ranking } = data.tournament;
  const names = data.strategies.map((strategy) => strategy.name);
  document.getElementById("tournament-about").textContent =
    "Exact win rate of row against column, a fair coin saying who begins. " +
    `A match is won (bold) by more than ${win}; ranks count matches won.`;
  const header = ["strategy", "rank", "won", ...ranking.map(({ entry }) => names[entry])];
  const rows = ranking.map(({ entry, rank, wins }) => [
    names[entry],
    rank,
    wins,
    ...ranking.map(({ entry: other }) =>
      entry === other
        ? "–"
        : {
            text: percent(rates[entry][other]),
            className: rates[entry][other] > win ? "won" : "",
          },
    ),
  ]);
  fillTable("tournament", header, rows);
}

// Say of tables that are wider than their place that they scroll.
function watchWidths() {
  const seen = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const box = target.closest(".wide");
      box.toggleAttribute("data-scrolls", box.scrollWidth > box.clientWidth + 1);
    }
  });
  for (const box of document.querySelectorAll(".wide")) {
    seen.observe(box);
    seen.observe(box.firstElementChild);
  }
}

function fillMade(data) {
  fillTable("rules", [], data.parts);
  const made = document.getElementById("made");
  const add = (title, text) => {
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    const pre = document.createElement("pre");
    summary.textContent = title;
    pre.textContent = text;
    pre.tabIndex = 0;
    details.append(summary, pre);
    made.append(details);
  };
  data.runs.forEach((run) => {
    add(`${run.name}: config`, run.config);
    add(`${run.name}: manifest`, run.manifest);
  });
  add("What made this page", JSON.stringify(data.environment, null, 2));
}
