/* Values under the pointer: a line across the chart, and in words what each series says there. */
(() => {
  const written = (value) => String(Number(value.toPrecision(4)));

  /* A figure's readings are places in the picture's own coordinates, with the values there. */
  function told(series, place) {
    const { places, values } = series;
    if (!places.length) return null;
    let k = places.findIndex((one) => one >= place);
    if (k < 0) k = places.length - 1;
    const before = Math.max(0, k - 1);
    if (series.line && k > 0 && places[k] > places[before]) {
      if (place > places[places.length - 1] + 1 || place < places[0] - 1) return null;
      if (series.step) return values[before];
      const share = Math.min(1, Math.max(0, (place - places[before]) / (places[k] - places[before])));
      return values[k].map((value, n) => values[before][n] + share * (value - values[before][n]));
    }
    const nearest = Math.abs(places[before] - place) < Math.abs(places[k] - place) ? before : k;
    return Math.abs(places[nearest] - place) < 9 ? values[nearest] : null;
  }

  /* The load at a place, between those of the line with most points. */
  function load(readings, place) {
    const longest = readings.series.reduce((a, b) => (b.places.length > a.places.length ? b : a));
    const { places, at, names } = longest;
    const k = Math.max(1, places.findIndex((one) => one >= place));
    if (names) return `from ${names[k - 1]}`;
    const share = (place - places[k - 1]) / ((places[k] ?? place) - places[k - 1] || 1);
    return written(at[k - 1] + share * ((at[k] ?? at[k - 1]) - at[k - 1]));
  }

  function follow(words) {
    const readings = JSON.parse(words.dataset.readings);
    const picture = words.parentElement.querySelector("svg");
    const [left, right, top, bottom] = readings.box;
    if (readings.series.length === 0) return;
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    line.setAttribute("class", "pointer");
    line.setAttribute("y1", top);
    line.setAttribute("y2", bottom);
    let place = (left + right) / 2;

    function show() {
      picture.append(line);
      line.setAttribute("x1", place);
      line.setAttribute("x2", place);
      const parts = readings.series.flatMap((series) => {
        const values = told(series, place);
        return values ? [`${series.label} ${values.map(written).join(" to ")}`] : [];
      });
      words.textContent = `${readings.x}: ${load(readings, place)}. ${readings.y}: ${parts.join(", ") || "none"}.`;
      words.hidden = false;
    }

    picture.setAttribute("tabindex", "0");
    picture.addEventListener("pointermove", (event) => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
      place = Math.min(right, Math.max(left, point.x));
      show();
    });
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      place = Math.min(right, Math.max(left, place + (step * (right - left)) / 50));
      show();
    });
  }

  document.querySelectorAll("[data-readings]").forEach(follow);
})();
