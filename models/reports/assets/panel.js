/* A page's panel: evaluates closedForm, which stands above, and redraws with panelParts. */

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
  const state = start.slice();

  /* ---- the model ---- */

  const form = (values) => closedForm(values, erlangB, erlangC);

  /* First comes the output, then how busy stations are, then of a closed network the throughput; last of a
     table of solved points comes the load that saturates. */
  const busy = (values) => form(values).slice(1, 1 + data.stations.length);
  const busiest = (values) => Math.max(0, ...busy(values));

  /* The output; infinite where a station has more to do than it can, NaN beyond a table. */
  function predict(values) {
    const [output] = form(values);
    if (data.table) return output; // a table says itself where its model saturates
    return !Number.isFinite(output) || busiest(values) >= 1 ? Infinity : output;
  }

  function at(values, load) {
    const changed = values.slice();
    changed[0] = load;
    return changed;
  }

  /* The smallest load at which a station is always busy: bracketed by doubling or halving from 1,
     then narrowed to the first of 16 cells, again and again. */
  function saturation(values) {
    if (data.table) return form(values).at(-1);
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
    const shares = busy(values);
    const utilisation = Object.fromEntries(data.stations.map((name, k) => [name, shares[k]]));
    const most = shares.indexOf(Math.max(...shares));
    const { error, points } = misfit(values);
    return {
      output: predict(values),
      utilisation,
      bottleneck: data.stations.length ? data.stations[most] : null,
      saturation_throughput: saturation(values),
      throughput: data.throughput ? form(values)[1 + data.stations.length] : null,
      rms_relative_error: error,
      points,
    };
  }

  /* ---- words ---- */

  const { digits, quantity } = panelParts;
  const element = (name) => document.getElementById(`panel-${name}`);

  function say(found) {
    const share = found.bottleneck === null ? NaN : found.utilisation[found.bottleneck];
    const { title } = controls[0];
    const load = title.endsWith("]") ? quantity(state[0], controls[0]) : `${digits(state[0] / controls[0].scale)} ${title}`;
    const shareWords = share >= 1 && !Number.isFinite(found.output) ? "saturated" : `${digits(100 * share, 3)}% busy`;
    const limit = found.saturation_throughput;
    const loadName = controls[0].name.replaceAll("_", " ");
    const full = data.table && controls[0].name !== "arrival_rate" ? `${loadName} ${quantity(limit, controls[0])}` : quantity(limit, data.table ? controls[0] : data.rate);
    const ends = limit === Infinity ? "no load" : "not known";
    const sustained = Number.isFinite(found.output);
    const words = {
      load,
      output: sustained ? quantity(found.output, data.output) : Number.isNaN(found.output) ? "beyond the table" : "beyond saturation",
      bottleneck: found.bottleneck === null ? "none" : `${found.bottleneck}, ${shareWords}`,
      saturation: data.throughput ? quantity(found.throughput, data.rate) : Number.isFinite(limit) ? full : ends,
      error: `${digits(100 * found.rms_relative_error, 3)}% over ${found.points} of ${data.measured.length} points`,
    };
    for (const [name, text] of Object.entries(words)) {
      const place = element(`out-${name}`);
      if (place) place.textContent = text;
    }
  }

  /* ---- the picture ---- */

  const x = { ...controls[0], low: 0, high: controls[0].high || 1, log: false };
  const y = { ...data.output, low: 0, high: 1.6 * data.output.top || 1, log: false };
  const places = panelParts.framed(element("picture"), x, y);
  const drawn = panelParts.curves(element("picture"), "panel");

  /* Points along the curve, closer together towards its end, where it is steep. */
  function along(values) {
    const limit = saturation(values);
    const end = limit < x.high ? limit * (1 - 1e-9) : x.high;
    const loads = Array.from({ length: 301 }, (_, k) => end * (1 - (1 - k / 300) ** 2));
    return loads
      .map((load) => [load, predict(at(values, Math.max(load, 1e-6 * x.high)))])
      .filter(([, value]) => Number.isFinite(value));
  }

  drawn.before(along(start), places);
  const loads = data.columns[controls[0].name];
  data.measured.forEach((value, k) => {
    panelParts.draw("circle", { cx: places.x(loads[k]), cy: places.y(value), r: 4, class: "point" }, drawn.inside);
  });

  function show() {
    const found = answer(state);
    const limit = found.saturation_throughput;
    drawn.curve(along(state), places);
    const seen = limit <= x.high;
    const caption = document.getElementById("panel-caption-limit");
    if (caption) caption.hidden = !seen;
    drawn.limit(seen ? places.x(limit) : null);
    drawn.marker(places.x(state[0]), Number.isFinite(found.output) ? places.y(found.output) : null);
    say(found);
  }

  /* ---- the controls ---- */

  const put = panelParts.sliders(controls, state, element, show);
  element("reset").addEventListener("click", () => {
    state.splice(0, state.length, ...start);
    put();
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
