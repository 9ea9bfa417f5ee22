/* The what-if panel: evaluates closedForm, which stands above, and redraws. No library, no network. */
"use strict";

/* Erlang's B by the recursion of its inverse, whose terms are all positive. */
function erlangB(servers, load) {
  if (!Number.isInteger(servers) || servers < 1) return NaN;
  let inverse = 1;
  for (let k = 1; k <= servers; k += 1) inverse = 1 + (inverse * k) / load;
  return 1 / inverse;
}

function erlangC(servers, load) {
  const blocked = erlangB(servers, load);
  return blocked / (1 - (load / servers) * (1 - blocked));
}

/* Quotients as Python rounds them: within 1e-12 of a whole number is that whole number. */
function wholeOr(rounded, value) {
  const nearest = Math.round(value);
  return Math.abs(value - nearest) <= 1e-12 * Math.abs(value) ? nearest : rounded;
}

function wholeCeiling(value) {
  return wholeOr(Math.ceil(value), value);
}

function wholeFloor(value) {
  return wholeOr(Math.floor(value), value);
}

(() => {
  const data = JSON.parse(document.getElementById("panel-data").textContent);
  const controls = data.controls;
  const start = controls.map((control) => control.value);
  let state = start.slice();

  /* ---- the model ---- */

  const form = (values) => closedForm(values, erlangB, erlangC);

  const busiest = (values) => Math.max(0, ...form(values).slice(1));

  /* The output; endless where a station has more to do than it can. */
  function predict(values) {
    const [output, ...shares] = form(values);
    const lost = !Number.isFinite(output) || shares.some((share) => share >= 1);
    return lost ? Infinity : output;
  }

  function at(values, load) {
    const changed = values.slice();
    changed[0] = load;
    return changed;
  }

  /* The smallest load at which a station is always busy: bracketed by doubling or halving from 1,
     then narrowed to the first of 16 cells, again and again. */
  function saturation(values) {
    if (data.stations.length === 0) return Infinity;
    if (!data.saturates) return NaN;
    const full = (load) => busiest(at(values, load)) >= 1;
    const grows = !full(1);
    let rate = 1;
    for (let k = 0; k < (grows ? 46 : 200) && full(rate) !== grows; k += 1) rate *= grows ? 2 : 0.5;
    if (full(rate) !== grows) return grows ? Infinity : 0;
    let [low, high] = grows ? [rate / 2, rate] : [rate, rate * 2];
    for (let round = 0; round < 14; round += 1) {
      const width = (high - low) / 16;
      let cell = 1;
      while (cell < 16 && !full(low + cell * width)) cell += 1;
      [low, high] = [low + (cell - 1) * width, cell < 16 ? low + cell * width : high];
    }
    return high;
  }

  /* Root mean square of the relative errors at the measured points that are counted. */
  function misfit(values) {
    const row = values.slice();
    let [sum, count] = [0, 0];
    data.measured.forEach((measured, k) => {
      controls.forEach((control, i) => {
        if (Object.hasOwn(data.columns, control.name)) row[i] = data.columns[control.name][k];
      });
      const error = (predict(row) - measured) / measured;
      if (data.counted[k] && Number.isFinite(error)) [sum, count] = [sum + error * error, count + 1];
    });
    return { error: count ? Math.sqrt(sum / count) : NaN, points: count };
  }

  function answer(values) {
    const shares = form(values).slice(1);
    const utilisation = Object.fromEntries(data.stations.map((name, k) => [name, shares[k]]));
    const most = shares.indexOf(Math.max(...shares));
    const { error, points } = misfit(values);
    return {
      output: predict(values),
      utilisation,
      bottleneck: data.stations.length ? data.stations[most] : null,
      saturation_throughput: saturation(values),
      rms_relative_error: error,
      points,
    };
  }

  /* ---- words ---- */

  const digits = (value, count = 4) => {
    if (!Number.isFinite(value)) return "∞";
    if (value !== 0 && (Math.abs(value) >= 1e7 || Math.abs(value) < 1e-4)) return value.toExponential(count - 1);
    const whole = Math.abs(value) >= 10 ** (count - 1);
    return whole ? value.toFixed(0) : String(Number(value.toPrecision(count)));
  };
  const quantity = (value, kind, count) => `${digits(value / kind.scale, count)} ${kind.unit}`.trim();
  const plain = (name) => name.replaceAll("_", " ");
  const element = (name) => document.getElementById(`panel-${name}`);

  function say(found) {
    const share = found.bottleneck === null ? NaN : found.utilisation[found.bottleneck];
    const load = quantity(state[0], controls[0]);
    const busy = share >= 1 ? "saturated" : `${digits(100 * share, 3)}% busy`;
    const limit = found.saturation_throughput;
    const ends = limit === Infinity ? "does not saturate" : "not known";
    const sustained = Number.isFinite(found.output);
    const words = {
      load,
      output: sustained ? quantity(found.output, data.output) : "beyond saturation",
      bottleneck: found.bottleneck === null ? "none" : `${found.bottleneck}, ${busy}`,
      saturation: Number.isFinite(limit) ? `saturates at ${quantity(limit, data.rate)}` : ends,
      error: `${digits(100 * found.rms_relative_error, 3)}% over ${found.points} of ${data.measured.length} points`,
    };
    for (const [name, text] of Object.entries(words)) {
      const place = element(`out-${name}`);
      if (place) place.textContent = text;
    }
  }

  /* ---- the picture ---- */

  const frame = { left: 64, right: 624, top: 16, bottom: 312 };
  const picture = element("picture");
  const xEnd = controls[0].high || 1;
  const yEnd = 1.6 * data.output.top || 1;
  const xPlace = (load) => frame.left + ((frame.right - frame.left) * load) / xEnd;
  const yPlace = (value) => frame.bottom - ((frame.bottom - frame.top) * value) / yEnd;

  function draw(kind, attributes, parent = picture, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    parent.append(made);
    return made;
  }

  function ticks(end) {
    const rough = end / 8;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, k) => k * step);
  }

  function drawFrame() {
    const [x, y] = [controls[0], data.output];
    for (const load of ticks(xEnd / x.scale)) {
      const place = xPlace(load * x.scale);
      draw("line", { x1: place, x2: place, y1: frame.top, y2: frame.bottom, class: "grid" });
      draw("text", { x: place, y: frame.bottom + 18, "text-anchor": "middle" }, picture, digits(load));
    }
    for (const value of ticks(yEnd / y.scale)) {
      const place = yPlace(value * y.scale);
      draw("line", { x1: frame.left, x2: frame.right, y1: place, y2: place, class: "grid" });
      draw("text", { x: frame.left - 8, y: place + 4, "text-anchor": "end" }, picture, digits(value));
    }
    const named = (kind) => (kind.unit ? `${plain(kind.name)} [${kind.unit}]` : plain(kind.name));
    draw("text", { x: (frame.left + frame.right) / 2, y: frame.bottom + 40, "text-anchor": "middle" }, picture, named(x));
    const middle = (frame.top + frame.bottom) / 2;
    const turned = { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` };
    draw("text", turned, picture, named(y));
  }

  /* Points along the curve, closer together towards its end, where it is steep. */
  function path(values) {
    const limit = saturation(values);
    const end = limit < xEnd ? limit * (1 - 1e-9) : xEnd;
    const places = [];
    for (let k = 0; k <= 300; k += 1) {
      const load = end * (1 - (1 - k / 300) ** 2);
      const value = predict(at(values, Math.max(load, 1e-6 * xEnd)));
      if (!Number.isFinite(value)) continue;
      places.push(`${xPlace(load).toFixed(2)},${Math.max(yPlace(value), -1000).toFixed(2)}`);
    }
    return places.length ? `M${places.join("L")}` : "";
  }

  drawFrame();
  const inside = draw("g", { "clip-path": "url(#panel-clip)" });
  draw("path", { d: path(start), class: "before" }, inside);
  const curve = draw("path", { id: "panel-curve", class: "curve" }, inside);
  const limitLine = draw("line", { y1: frame.top, y2: frame.bottom, class: "limit" }, inside);
  const loads = data.columns[controls[0].name];
  data.measured.forEach((value, k) => {
    draw("circle", { cx: xPlace(loads[k]), cy: yPlace(value), r: 4, class: "point" }, inside);
  });
  const marker = draw("circle", { r: 7, class: "marker" }, inside);

  function show() {
    const found = answer(state);
    const limit = found.saturation_throughput;
    curve.setAttribute("d", path(state));
    const seen = limit <= xEnd;
    const caption = document.getElementById("panel-caption-limit");
    if (caption) caption.hidden = !seen;
    for (const end of ["x1", "x2"]) limitLine.setAttribute(end, seen ? xPlace(limit) : -10);
    const sustained = Number.isFinite(found.output);
    marker.setAttribute("cx", xPlace(state[0]));
    marker.setAttribute("cy", sustained ? yPlace(found.output) : -50);
    say(found);
  }

  /* ---- the controls ---- */

  function bounded(control, value) {
    const low = control.minimum === null ? -Infinity : control.minimum;
    const high = control.maximum === null ? Infinity : control.maximum;
    const inBounds = Math.min(Math.max(value, low), high);
    return control.whole ? Math.max(1, Math.round(inBounds)) : inBounds;
  }

  /* Six digits, but counts in full. */
  function written(value) {
    const exact = Number(value.toPrecision(12));
    return Number.isInteger(exact) ? exact : Number(value.toPrecision(6));
  }

  function put(index) {
    const control = controls[index];
    const shown = written(state[index] / control.scale);
    element(`slider-${index}`).value = shown;
    element(`slider-${index}`).setAttribute("aria-valuetext", `${shown} ${control.unit}`.trim());
    element(`number-${index}`).value = shown;
  }

  function take(index, text, figures) {
    const number = Number(text);
    if (text.trim() === "" || !Number.isFinite(number)) return;
    const rounded = Number(number.toPrecision(figures));
    state[index] = bounded(controls[index], rounded * controls[index].scale);
    show();
  }

  controls.forEach((control, index) => {
    const [slider, number] = [element(`slider-${index}`), element(`number-${index}`)];
    slider.addEventListener("input", () => { take(index, slider.value, 4); put(index); });
    number.addEventListener("input", () => take(index, number.value, 15));
    number.addEventListener("change", () => put(index));
    put(index);
  });
  element("reset").addEventListener("click", () => {
    state = start.slice();
    controls.forEach((_, index) => put(index));
    show();
  });
  document.getElementById("panel").hidden = false;
  element("needs").hidden = true;
  show();

  /* For tests and the console: SI values by name; those left out are as at the start. */
  window.headway = Object.freeze({
    evaluate(values = {}) {
      return answer(controls.map((control, k) => (Object.hasOwn(values, control.name) ? values[control.name] : start[k])));
    },
    parameters: Object.freeze(controls.map((control) => control.name)),
  });
})();
