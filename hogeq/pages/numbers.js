// How numbers are written: as hogeq.support.messages writes them in the terminal, but for the sign of
// a loss, a true minus here.

const MISSING = "–";

function known(value) {
  return value !== null && value !== undefined && !Number.isNaN(value);
}

// What is no probability: seconds, numbers of dice.
function fixed(value, digits) {
  return known(value) ? decimals(value, digits) : MISSING;
}

// Of a tie that binary numbers hold, as 3.125, the even digit, as Python takes it; toFixed takes the
// larger number.
function decimals(value, digits) {
  const found = value.toFixed(digits);
  const tie = Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
  if (!tie || Number(found.at(-1)) % 2 === 0) return found;
  return value.toFixed(digits + 1).slice(0, digits ? -1 : -2);
}

// A probability in per cent. What is not nothing is never shown as if it were.
function percent(value, digits = 2) {
  if (!known(value)) return MISSING;
  const unit = 10 ** -digits;
  const share = 100 * value;
  if (value > 1e-12 && share < unit / 2) return `<${decimals(unit, digits)} %`;
  if (value < 1 - 1e-12 && 100 - share < unit / 2) return `>${decimals(100 - unit, digits)} %`;
  return `${decimals(Math.abs(share), digits)} %`;
}

// A lower bound in per cent, rounded down, and an upper one, rounded up.
function atLeast(bound) {
  return percent(known(bound) ? Math.floor(1e4 * (bound + 1e-12)) / 1e4 : bound);
}

function atMost(bound) {
  return percent(known(bound) ? Math.ceil(1e4 * (bound - 1e-12)) / 1e4 : bound);
}

// A difference of probabilities, in percentage points.
function pp(value, digits = 2) {
  if (!known(value)) return MISSING;
  const unit = 10 ** -digits;
  const size = 100 * Math.abs(value);
  if (Math.abs(value) > 1e-12 && size < unit / 2) return `<${decimals(unit, digits)} pp`;
  const sign = value < -1e-12 ? "−" : value > 1e-12 ? "+" : "";
  return `${sign}${decimals(size, digits)} pp`;
}

// How many there are of something.
function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

// A probability that may be very small.
function chance(value) {
  if (value === 0 || value >= 5e-4) return percent(value);
  const often = Number((1 / value).toPrecision(2));
  return often < 1e9 ? `1 in ${often.toLocaleString("en")}` : `1 in ${often.toExponential(1)}`;
}

// An expected number of times in a game: more than 1 where play comes back, and so no probability.
function times(value) {
  if (value === 0 || value >= 0.01) return `${fixed(value, 2)} times`;
  return `once in ${Number((1 / value).toPrecision(2)).toLocaleString("en")} games`;
}

// Ticks of a logarithmic axis: 1, 2 and 5 of every power of ten, or powers alone on a long range.
function logTicks(values, decades = 3) {
  const shown = values.filter((value) => value > 0);
  const long = Math.log10(Math.max(...shown) / Math.min(...shown)) > decades;
  const ticks = [];
  for (let power = -9; power <= 9; power++) {
    for (const first of long ? [1] : [1, 2, 5]) ticks.push(Number(`${first}e${power}`));
  }
  return { tickvals: ticks, ticktext: ticks.map(plain) };
}

// In plain digits, without an exponent.
function plain(value) {
  return value.toLocaleString("en", { maximumSignificantDigits: 6, maximumFractionDigits: 12 });
}
