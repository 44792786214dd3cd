// The DET curves: FNMR over FMR, with zoom, tooltip and the chosen threshold.

const DET = { box: document.getElementById("det"), margin: { left: 58, right: 14, top: 10, bottom: 44 } };

function wholeSpan() {
  const axis = AXES[STATE.axes];
  if (STATE.axes === "linear") return { x: [0, 1], y: [0, 1] };
  const fewest = (name) => Math.min(0.1, ...SYSTEMS.map((system) => 0.2 / system.counts[name]));
  const span = (lowest, top) => [axis.at(Math.max(lowest, 1e-8)), axis.at(STATE.axes === "log" ? 1 : top)];
  return { x: span(fewest("negatives"), topRate("fmr")), y: span(fewest("positives"), topRate("fnmr")) };
}

// On normal deviates the axes end a little above the thresholds worth knowing, where decisions are made.
function topRate(name) {
  const worst = Math.max(...SYSTEMS.flatMap((system) => system.points.filter((point) => point.measurable).map((point) => point[name].value)));
  return Math.min(0.98, Math.max(0.4, 1.2 * worst));
}

function frame() {
  const width = Math.max(DET.box.clientWidth, 240), height = Math.min(width, 520), m = DET.margin;
  const span = STATE.span || wholeSpan(), axis = AXES[STATE.axes];
  const w = width - m.left - m.right, h = height - m.top - m.bottom;
  const x = (rate) => m.left + (w * (axis.at(rate) - span.x[0])) / (span.x[1] - span.x[0]);
  const y = (rate) => m.top + h - (h * (axis.at(rate) - span.y[0])) / (span.y[1] - span.y[0]);
  return { width, height, w, h, span, x, y };
}

function drawDet() {
  const f = (DET.frame = frame()), m = DET.margin;
  DET.box.querySelectorAll("svg").forEach((old) => old.remove());
  const svg = element(DET.box, "svg", { viewBox: `0 0 ${f.width} ${f.height}`, height: f.height, role: "img" });
  element(svg, "title", {}, "DET curves: false non-match rate over false match rate; the tables hold the same numbers");
  const clip = element(element(svg, "defs"), "clipPath", { id: "inside" });
  element(clip, "rect", { x: m.left, y: m.top, width: f.w, height: f.h });
  drawGrid(svg, f, m);
  const inside = element(svg, "g", { "clip-path": "url(#inside)" });
  const ends = [0, 1].map((k) => AXES[STATE.axes].rate(k ? Math.max(f.span.x[1], f.span.y[1]) : Math.min(f.span.x[0], f.span.y[0])));
  element(inside, "line", { class: "diagonal", x1: f.x(ends[0]), y1: f.y(ends[0]), x2: f.x(ends[1]), y2: f.y(ends[1]) });
  for (const system of SYSTEMS.filter((each) => each.shown)) drawCurve(inside, f, system);
  drawChosen(inside, f, SYSTEMS[STATE.system]);
  DET.svg = svg;
}

function drawGrid(svg, f, m) {
  let last = -1e9;
  for (const rate of ticks(STATE.axes, ...f.span.x)) {
    const x = f.x(rate);
    element(svg, "line", { class: "grid", x1: x, x2: x, y1: m.top, y2: m.top + f.h });
    if (x - last < 44) continue;
    element(svg, "text", { x, y: m.top + f.h + 17, "text-anchor": "middle" }, String(Number((100 * rate).toPrecision(6))));
    last = x;
  }
  last = 1e9;
  for (const rate of ticks(STATE.axes, ...f.span.y)) {
    const y = f.y(rate);
    element(svg, "line", { class: "grid", x1: m.left, x2: m.left + f.w, y1: y, y2: y });
    if (last - y < 16) continue;
    element(svg, "text", { x: m.left - 7, y: y + 4, "text-anchor": "end" }, String(Number((100 * rate).toPrecision(6))));
    last = y;
  }
  element(svg, "rect", { class: "frame", x: m.left, y: m.top, width: f.w, height: f.h });
  element(svg, "text", { x: m.left + f.w / 2, y: f.height - 6, "text-anchor": "middle" }, "False match rate (%)");
  const middle = m.top + f.h / 2;
  element(svg, "text", { x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` }, "False non-match rate (%)");
}

function drawCurve(parent, f, system) {
  const steps = system.drawn.x.map((rate, k) => `${f.x(rate).toFixed(1)} ${f.y(system.drawn.y[k]).toFixed(1)}`);
  element(parent, "path", { class: "curve", d: "M" + steps.join("L"), stroke: colour(system.index), "stroke-dasharray": system.dashes, "data-system": system.index });
}

function drawChosen(parent, f, system) {
  if (!system.shown) return;
  const x = f.x(system.drawn.x[STATE.k]), y = f.y(system.drawn.y[STATE.k]), found = limits(system, STATE.k);
  const paint = { class: "cross", stroke: colour(system.index) };
  if (found) {
    const floor = (rate, total) => Math.max(rate, 0.3 / total);
    const [left, right] = found.fmr.map((r) => f.x(floor(r, system.counts.negatives)));
    const [low, high] = found.fnmr.map((r) => f.y(floor(r, system.counts.positives)));
    element(parent, "line", { ...paint, x1: left, x2: right, y1: y, y2: y });
    element(parent, "line", { ...paint, x1: x, x2: x, y1: low, y2: high });
  }
  element(parent, "circle", { id: "chosen", class: "dot", cx: x, cy: y, r: 6, fill: colour(system.index) });
}

// --- pointer: nearest point, zoom by wheel or by dragging a box

function nearest(px, py) {
  const f = DET.frame;
  let best = { distance: 30 };
  for (const system of SYSTEMS.filter((each) => each.shown))
    system.drawn.x.forEach((rate, k) => {
      const distance = Math.hypot(f.x(rate) - px, f.y(system.drawn.y[k]) - py);
      if (distance < best.distance) best = { distance, system, k };
    });
  return best.system ? best : null;
}

function pointer(event) {
  const box = DET.svg.getBoundingClientRect();
  return [((event.clientX - box.left) * DET.frame.width) / box.width, ((event.clientY - box.top) * DET.frame.height) / box.height];
}

function positions(px, py) {
  const f = DET.frame, m = DET.margin;
  const along = (span, share) => span[0] + (span[1] - span[0]) * Math.min(1, Math.max(0, share));
  return [along(f.span.x, (px - m.left) / f.w), along(f.span.y, 1 - (py - m.top) / f.h)];
}

function zoomWheel(event) {
  event.preventDefault();
  const [x, y] = positions(...pointer(event)), factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300)));
  const whole = wholeSpan();
  const scaled = (span, at, limit) => [Math.max(at - (at - span[0]) * factor, limit[0]), Math.min(at + (span[1] - at) * factor, limit[1])];
  const { span } = DET.frame;
  STATE.span = { x: scaled(span.x, x, whole.x), y: scaled(span.y, y, whole.y) };
  drawDet();
}

function zoomBox(from, to) {
  const [a, b] = [positions(...from), positions(...to)];
  const sorted = (k) => [Math.min(a[k], b[k]), Math.max(a[k], b[k])];
  STATE.span = { x: sorted(0), y: sorted(1) };
  drawDet();
}

function setUpDet() {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  DET.box.append(tip);
  let from = null, band = null;
  DET.box.addEventListener("wheel", zoomWheel, { passive: false });
  DET.box.addEventListener("pointerdown", (event) => { if (event.pointerType !== "touch") from = pointer(event); });
  DET.box.addEventListener("pointermove", (event) => {
    const at = pointer(event);
    showTip(tip, from ? null : nearest(...at), at);
    if (!from) return;
    band = band || element(DET.svg, "rect", { class: "band" });
    band.setAttribute("x", Math.min(from[0], at[0]));
    band.setAttribute("y", Math.min(from[1], at[1]));
    band.setAttribute("width", Math.abs(from[0] - at[0]));
    band.setAttribute("height", Math.abs(from[1] - at[1]));
  });
  DET.box.addEventListener("pointerup", (event) => {
    const at = pointer(event), dragged = from && Math.abs(from[0] - at[0]) > 8 && Math.abs(from[1] - at[1]) > 8;
    if (dragged) zoomBox(from, at);
    else { const found = nearest(...at); if (found) choose(found.system.index, found.k); }
    if (band) band.remove();
    from = band = null;
  });
  DET.box.addEventListener("pointerleave", () => { tip.hidden = true; if (band) band.remove(); from = band = null; });
  document.getElementById("reset").addEventListener("click", () => { STATE.span = null; drawDet(); });
}

function showTip(tip, found, at) {
  tip.hidden = !found;
  if (!found) return;
  const { system, k } = found, ends = limits(system, k);
  const line = (name) => `${name.toUpperCase()} ${perCent(system[name][k])}` + (ends ? ` ${brackets(...ends[name])}` : "");
  tip.textContent = [system.name, `threshold ${number(system.curve.thresholds[k])}`, line("fmr"), line("fnmr")].join("\n");
  const left = at[0] > DET.frame.width / 2;
  tip.style.left = left ? "auto" : `${at[0] + 14}px`;
  tip.style.right = left ? `${DET.frame.width - at[0] + 14}px` : "auto";
  tip.style.top = `${Math.max(0, at[1] - 30)}px`;
}
