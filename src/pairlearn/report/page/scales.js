"use strict";
// Numbers to words, rates to positions, and SVG elements. All text goes through textContent, never through markup.

const RECORD = JSON.parse(document.getElementById("record").textContent);
const DASHES = ["", "9 4", "2.5 3", "10 4 2.5 4", "5 3"];
const colour = (k) => `var(--s${k % 7})`;

function perCent(rate) {
  const value = 100 * rate;
  if (value === 0) return "0 %";
  return Math.abs(rate) >= 0.00995 ? `${value.toFixed(2)} %` : `${Number(value.toPrecision(3))} %`;
}
const number = (value) => String(Number(value.toPrecision(6)));
const count = (value) => value.toLocaleString("en-US");
const brackets = (low, high) => `[${perCent(low).slice(0, -2)}, ${perCent(high).slice(0, -2)}]`;

// Acklam's approximation of the inverse normal distribution function; its error of 1e-9 is far below a pixel.
function deviate(p) {
  const a = [-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716, 2.506628277459239];
  const b = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572, 1];
  const c = [-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783];
  const d = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1];
  const poly = (w, x) => w.reduce((sum, each) => sum * x + each, 0);
  if (p > 0.97575) return -deviate(1 - p);
  if (p < 0.02425) { const q = Math.sqrt(-2 * Math.log(p)); return poly(c, q) / poly(d, q); }
  const q = p - 0.5;
  return (poly(a, q * q) * q) / poly(b, q * q);
}

// Each kind of axis: position of a rate, and the rate at a position.
function bisect(at, position) {
  let low = 1e-15, high = 1 - 1e-12;
  for (let k = 0; k < 60; k++) { const middle = (low + high) / 2; if (at(middle) < position) low = middle; else high = middle; }
  return (low + high) / 2;
}
const AXES = {
  normal: { name: "Normal deviate", at: (r) => deviate(Math.min(Math.max(r, 1e-12), 1 - 1e-9)), top: 0.6 },
  log: { name: "Logarithmic", at: (r) => Math.log10(Math.max(r, 1e-12)), top: 1 },
  linear: { name: "Linear", at: (r) => r, top: 1 },
};
AXES.normal.rate = (position) => bisect(AXES.normal.at, position);
AXES.log.rate = (position) => Math.pow(10, position);
AXES.linear.rate = (position) => position;

const DECADES = [-7, -6, -5, -4, -3].map((k) => Number(`1e${k}`));
const TICKS = {
  normal: [...DECADES, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 0.999],
  log: [...DECADES, 0.01, 0.1, 1],
  linear: [0, 0.2, 0.4, 0.6, 0.8, 1],
};

// Round rates inside a span; a deep zoom gets a finer, even grid.
function ticks(kind, low, high) {
  const at = AXES[kind].at, inside = (r) => at(r) >= low - 1e-9 && at(r) <= high + 1e-9;
  const found = TICKS[kind].filter(inside);
  if (found.length > 2) return found;
  const from = AXES[kind].rate(low), to = AXES[kind].rate(high);
  const rough = (to - from) / 4, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((k) => k * power).find((each) => each >= rough);
  const grid = [];
  for (let k = Math.ceil(from / step); k * step <= to; k++) grid.push(Number((k * step).toPrecision(12)));
  return grid;
}

function element(parent, name, attributes = {}, text = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  parent.append(made);
  return made;
}

function button(parent, text, attributes, press) {
  const made = document.createElement("button");
  made.type = "button";
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(document.createTextNode(text));
  made.addEventListener("click", press);
  parent.append(made);
  return made;
}

const SYSTEMS = RECORD.systems.map((system, k) => {
  const { positives, negatives } = system.counts, curve = system.curve;
  const fmr = curve.false_matches.map((n) => n / negatives), fnmr = curve.false_non_matches.map((n) => n / positives);
  // Rates of 0 are drawn a little below the smallest rate that can be seen.
  const drawn = { x: fmr.map((r) => Math.max(r, 0.3 / negatives)), y: fnmr.map((r) => Math.max(r, 0.3 / positives)) };
  return { ...system, index: k, fmr, fnmr, drawn, shown: true, dashes: DASHES[k % DASHES.length] };
});

function limits(system, k) {
  const c = system.curve;
  if (c.fmr_low === null) return null;
  return { fmr: [c.fmr_low[k], c.fmr_high[k]], fnmr: [c.fnmr_low[k], c.fnmr_high[k]] };
}

// The first kept threshold that is not below a value: between two, nothing changes that the page could know.
function place(system, threshold) {
  const found = system.curve.thresholds.findIndex((each) => each >= threshold);
  return found < 0 ? system.curve.thresholds.length - 1 : found;
}

const STATE = { system: 0, k: 0, axes: "normal", span: null };
