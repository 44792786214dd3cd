// The threshold panel: slider, rates, confusion table, histogram, and which of the worst pairs are errors.

const byId = (id) => document.getElementById(id);

function say(id, text, value) {
  byId(id).textContent = text;
  if (value !== undefined) byId(id).dataset.value = value;
}

function choose(index, k) {
  const changed = index !== STATE.system;
  STATE.system = index;
  STATE.k = k;
  const system = SYSTEMS[index];
  if (changed) { system.shown = true; setUpSystem(); }
  byId("slider").value = k;
  update();
}

function update() {
  const system = SYSTEMS[STATE.system], k = STATE.k, ends = limits(system, k);
  const { positives, negatives } = system.counts, curve = system.curve;
  const wrong = curve.false_matches[k], missed = curve.false_non_matches[k];
  say("threshold", number(curve.thresholds[k]), curve.thresholds[k]);
  byId("slider").setAttribute("aria-valuetext", `${number(curve.thresholds[k])}, FMR ${perCent(system.fmr[k])}, FNMR ${perCent(system.fnmr[k])}`);
  for (const name of ["fmr", "fnmr"]) {
    say(name, perCent(system[name][k]), system[name][k]);
    say(`${name}-limits`, ends ? `${100 * RECORD.level} % limits ${brackets(...ends[name])}` : "no limits: too few pairs");
  }
  say("true-matches", count(positives - missed), positives - missed);
  say("false-non-matches", count(missed), missed);
  say("false-matches", count(wrong), wrong);
  say("true-non-matches", count(negatives - wrong), negatives - wrong);
  say("positives", count(positives), positives);
  say("negatives", count(negatives), negatives);
  for (const made of byId("presets").children) made.setAttribute("aria-pressed", String(Number(made.dataset.k) === k));
  drawDet();
  drawHistogram(system, curve.thresholds[k]);
  markWorst(system, curve.thresholds[k]);
}

function drawHistogram(system, threshold) {
  const box = byId("histogram"), { edges, positives, negatives } = system.histogram;
  const width = Math.max(box.clientWidth, 240), height = 190, m = { left: 8, right: 8, top: 20, bottom: 34 };
  const w = width - m.left - m.right, h = height - m.top - m.bottom, last = edges[edges.length - 1];
  const x = (value) => m.left + (w * Math.min(1.01, Math.max(-0.01, (value - edges[0]) / (last - edges[0]))));
  box.replaceChildren();
  const svg = element(box, "svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img" });
  element(svg, "title", {}, "Histogram of the scores of both kinds of pairs, each scaled to its own total, with the threshold");
  const kinds = [["negatives", negatives, system.counts.negatives], ["positives", positives, system.counts.positives]];
  const top = Math.max(...kinds.map(([, counts, total]) => Math.max(...counts) / total));
  for (const [name, counts, total] of kinds)
    counts.forEach((n, k) => {
      const size = (h * n) / total / top;
      if (n) element(svg, "rect", { class: name, x: x(edges[k]), y: m.top + h - size, width: Math.max(1, x(edges[k + 1]) - x(edges[k]) - 0.5), height: size });
    });
  element(svg, "line", { class: "frame", x1: m.left, x2: m.left + w, y1: m.top + h, y2: m.top + h });
  element(svg, "line", { class: "line", id: "threshold-line", x1: x(threshold), x2: x(threshold), y1: m.top - 6, y2: m.top + h });
  for (const [at, anchor] of [[edges[0], "start"], [(edges[0] + last) / 2, "middle"], [last, "end"]])
    element(svg, "text", { x: x(at), y: m.top + h + 15, "text-anchor": anchor }, String(Number(at.toPrecision(3))));
  drawKey(svg, m.left, height - 4, "negatives", "different");
  drawKey(svg, m.left + 90, height - 4, "positives", "same");
  element(svg, "text", { x: m.left + w, y: height - 4, "text-anchor": "end" }, "share of each kind, by score");
}

function drawKey(svg, x, y, kind, text) {
  element(svg, "rect", { class: kind, x, y: y - 10, width: 11, height: 11 });
  element(svg, "text", { x: x + 16, y }, text);
}

function markWorst(system, threshold) {
  for (const table of document.querySelectorAll(`.worst[data-system="${system.index}"] table`))
    for (const row of table.tBodies[0].rows) {
      const accepted = Number(row.dataset.value) >= threshold, state = row.querySelector(".state");
      state.textContent = accepted ? "accepted" : "rejected";
      state.classList.toggle("wrong", accepted === (table.dataset.kind === "false_matches"));
    }
}

function setUpSystem() {
  const system = SYSTEMS[STATE.system];
  byId("system").value = STATE.system;
  byId("slider").max = system.curve.thresholds.length - 1;
  byId("presets").replaceChildren();
  system.points.forEach((point, k) => {
    if (!point.measurable) return;
    const at = place(system, point.threshold);
    button(byId("presets"), RECORD.point_names[system.index][k], { "data-k": at }, () => choose(system.index, at));
  });
  document.querySelectorAll("#legend button").forEach((made, k) => made.setAttribute("aria-pressed", SYSTEMS[k].shown));
}

function setUpLegend() {
  for (const system of SYSTEMS) {
    const made = button(byId("legend"), system.name + (system.baseline ? " (untrained)" : ""), { "aria-pressed": "true" }, () => {
      system.shown = !system.shown;
      made.setAttribute("aria-pressed", system.shown);
      drawDet();
    });
    const key = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [name, value] of [["width", 30], ["height", 8], ["aria-hidden", "true"]]) key.setAttribute(name, value);
    element(key, "line", { x1: 0, x2: 24, y1: 4, y2: 4, stroke: colour(system.index), "stroke-width": 3, "stroke-dasharray": system.dashes });
    made.prepend(key);
    const option = document.createElement("option");
    option.value = system.index;
    option.textContent = system.name;
    byId("system").append(option);
  }
}

function setUpScales() {
  for (const [kind, axis] of Object.entries(AXES)) {
    const made = button(byId("scales"), axis.name, { role: "radio", "aria-checked": kind === STATE.axes, "data-axes": kind }, () => {
      STATE.axes = kind;
      STATE.span = null;
      for (const other of byId("scales").children) other.setAttribute("aria-checked", other === made);
      drawDet();
    });
  }
}

// Without a script, and on paper, everything is open; on a screen most of it waits to be asked for.
function setUpDetails() {
  let closed = [...document.querySelectorAll("details.later")];
  for (const each of closed) each.open = false;
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const each of closed) each.open = true;
  });
  window.addEventListener("afterprint", () => { for (const each of closed) each.open = false; });
}

function start() {
  setUpDetails();
  setUpLegend();
  setUpScales();
  setUpDet();
  setUpSystem();
  const operating = (system) => place(system, system.points[system.operating].threshold);
  choose(0, operating(SYSTEMS[0]));
  byId("slider").addEventListener("input", (event) => choose(STATE.system, Number(event.target.value)));
  byId("system").addEventListener("change", (event) => { const k = Number(event.target.value); choose(k, operating(SYSTEMS[k])); });
  for (const system of SYSTEMS) markWorst(system, system.points[system.operating].threshold);
  new ResizeObserver(() => update()).observe(DET.box);
}

start();
