// Scales of colours: where a value lies on one, and what its trace needs.

const NARROW = matchMedia("(max-width: 40rem)").matches;

function colourbar(title, more = {}) {
  // On a narrow screen it lies below, to leave the map its width.
  const place = NARROW
    ? { orientation: "h", y: -0.26, yanchor: "top", title: { text: title, side: "bottom" } }
    : { title: { text: title, side: "right" } };
  return { thickness: 14, outlinewidth: 0, ...place, ...more };
}

// A colour for each choice, from the least on: no dice, or -1.
function rollScale(colours, title, least) {
  const steps = colours.flatMap((colour, i) => [
    [i / colours.length, colour],
    [(i + 1) / colours.length, colour],
  ]);
  const every = Math.ceil(colours.length / 12);
  const ticks = colours.map((_, i) => i + least).filter((_, i) => i % every === 0);
  return {
    place: (dice) => dice,
    trace: {
      colorscale: steps,
      zmin: least - 0.5,
      zmax: least + colours.length - 0.5,
      colorbar: colourbar(title, { tickvals: ticks }),
    },
  };
}

function evenScale(colorscale, zmin, zmax, title) {
  return { place: (value) => value, trace: { colorscale, zmin, zmax, colorbar: colourbar(title) } };
}

function signedScale(colours, most, title) {
  const scale = colours.map((colour, i) => [i / (colours.length - 1), colour]);
  return evenScale(scale, -most, most, title);
}

function percentTick(value) {
  return `${plain(100 * value)} %`;
}

function ppTick(value) {
  return plain(100 * value);
}

// Cube roots, from no loss to the most: the colours of a loss everywhere.
function lossScale(values, colours) {
  const most = values.reduce((high, value) => Math.max(high, value), 0);
  const ticks = [-8, -7, -6, -5, -4, -3, -2, -1, 0].map((power) => 10 ** power).filter((tick) => tick <= most && tick > most / 2000);
  return {
    place: Math.cbrt,
    trace: {
      colorscale: colours.map((colour, i) => [i / (colours.length - 1), colour]),
      zmin: 0,
      zmax: Math.cbrt(most) || 1,
      colorbar: colourbar("pp of win rate", { tickvals: [0, ...ticks.map(Math.cbrt)], ticktext: [0, ...ticks].map(ppTick) }),
    },
  };
}

// Shown down to a millionth of the highest: what is smaller looks like that.
function logScale(values, title, written) {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  const high = Math.log10(most || 1);
  const low = Math.max(
    high - 6,
    Math.log10(values.reduce((least, value) => (value > 0 ? Math.min(least, value) : least), 1)),
  );
  const ticks = [];
  for (let power = Math.ceil(low); power <= Math.floor(high); power++) ticks.push(power);
  return {
    place: (value) => Math.log10(value),
    trace: {
      colorscale: "Viridis",
      reversescale: true,
      zmin: low,
      zmax: Math.max(high, low + 0.1),
      colorbar: colourbar(title, {
        tickvals: ticks,
        ticktext: ticks.map((power) => written(10 ** power)),
      }),
    },
  };
}
