/* What the panels of a page and of a notebook share: the picture and the sliders. No library, no network. */

const panelParts = (() => {
  const frame = { left: 64, right: 612, top: 28, bottom: 312 };
  const letter = 11; // the width of a digit in the large letters of a phone

  /* ---- words ---- */

  /* As Python writes them: so many digits, large numbers in full, commas between thousands from 10,000 on. */
  const digits = (value, count = 4) => {
    if (!Number.isFinite(value)) return "∞";
    if (value !== 0 && (Math.abs(value) >= 1e9 || Math.abs(value) < 1e-4)) return value.toExponential(count - 1);
    const text = String(Number(value.toPrecision(count)));
    return Math.abs(value) < 1e4 ? text : text.replace(/\B(?=(\d{3})+$)/g, ",");
  };
  const quantity = (value, kind, count) => `${digits(value / kind.scale, count)} ${kind.unit}`.trim();

  /* ---- the picture ---- */

  function draw(kind, attributes, parent, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    parent.append(made);
    return made;
  }

  /* Where a number stands between two ends of the frame. */
  function axis(kind, from, to) {
    const along = kind.log ? Math.log : Number;
    const [first, last] = [along(kind.low), along(kind.high)];
    return (number) => from + ((to - from) * (along(number) - first)) / (last - first || 1);
  }

  /* Round numbers between the ends of an axis, in the unit that is shown; about `most` of them. */
  function ticks(kind, most = 8) {
    const [low, high] = [kind.low / kind.scale, kind.high / kind.scale];
    if (kind.log) return decades(low, high);
    const rough = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, k) => (first + k) * step);
  }

  function decades(low, high) {
    const factors = high / low < 1e3 ? [1, 2, 5] : [1];
    const powers = Array.from({ length: 60 }, (_, k) => 10 ** (k - 30));
    return powers.flatMap((power) => factors.map((factor) => factor * power))
      .filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  }

  const wide = (values) => letter * Math.max(0, ...values.map((value) => digits(value).length));

  /* As many numbers as stand side by side. */
  function roomy(kind, width) {
    for (let most = 8; most > 2; most -= 1) {
      const values = ticks(kind, most);
      if (values.length * (wide(values) + letter) <= width) return values;
    }
    return ticks(kind, 2);
  }

  /* Empty a picture and draw its axes; both are { name, unit, scale, low, high, log }. */
  function framed(picture, x, y) {
    for (const old of picture.querySelectorAll(":scope > :not(clipPath, .inside), .inside > *")) old.remove();
    frame.left = Math.max(64, 16 + wide(ticks(y)));
    const width = frame.right - frame.left;
    const inside = picture.querySelector("clipPath rect");
    for (const [name, value] of Object.entries({ x: frame.left, width })) inside.setAttribute(name, value);
    const places = { x: axis(x, frame.left, frame.right), y: axis(y, frame.bottom, frame.top) };
    const across = roomy(x, width);
    for (const value of across) {
      const place = places.x(value * x.scale);
      draw("line", { x1: place, x2: place, y1: frame.top, y2: frame.bottom, class: "grid" }, picture);
      const middle = Math.min(place, 638 - wide([value]) / 2);
      draw("text", { x: middle, y: frame.bottom + 18, "text-anchor": "middle" }, picture, digits(value));
    }
    for (const value of ticks(y)) {
      const place = places.y(value * y.scale);
      draw("line", { x1: frame.left, x2: frame.right, y1: place, y2: place, class: "grid" }, picture);
      draw("text", { x: frame.left - 8, y: place + 4, "text-anchor": "end" }, picture, digits(value));
    }
    draw("text", { x: (frame.left + frame.right) / 2, y: frame.bottom + 40, "text-anchor": "middle" }, picture, x.title);
    draw("text", { x: 8, y: 14 }, picture, y.title);
    return places;
  }

  /* A line through points that are pairs of numbers. */
  function path(points, places) {
    const corners = points.map(([x, y]) => `${places.x(x).toFixed(2)},${Math.max(places.y(y), -1000).toFixed(2)}`);
    return corners.length ? `M${corners.join("L")}` : "";
  }

  /* Curves, the limit and the chosen point, inside the frame of a picture. */
  function curves(picture, prefix) {
    const inside = picture.querySelector(".inside");
    picture.append(inside);
    const before = draw("path", { class: "before" }, inside);
    const curve = draw("path", { id: `${prefix}-curve`, class: "curve" }, inside);
    const limit = draw("line", { y1: frame.top, y2: frame.bottom, class: "limit" }, inside);
    const marker = draw("circle", { r: 7, class: "marker" }, inside);
    return {
      inside,
      before: (points, places) => before.setAttribute("d", path(points, places)),
      curve: (points, places) => curve.setAttribute("d", path(points, places)),
      limit(place) {
        for (const end of ["x1", "x2"]) limit.setAttribute(end, place === null ? -10 : place);
      },
      marker(x, y) {
        marker.setAttribute("cx", x);
        marker.setAttribute("cy", y === null ? -50 : y);
        inside.append(marker);
      },
    };
  }

  /* ---- the controls ---- */

  function bounded(control, value) {
    const low = control.minimum === null ? -Infinity : control.minimum;
    const high = control.maximum === null ? Infinity : control.maximum;
    const inBounds = Math.min(Math.max(value, low), high);
    return control.whole ? Math.max(1, Math.round(inBounds)) : inBounds;
  }

  /* Four digits, but counts in full; what is not touched keeps all. */
  function written(value) {
    const exact = Number(value.toPrecision(12));
    return Number.isInteger(exact) ? exact : Number(value.toPrecision(4));
  }

  /* Connect the sliders and boxes of controls with `state`, an array of SI values; a slider of
     several decades moves along the logarithm. */
  function sliders(controls, state, element, changed) {
    const position = (control, shown) => (control.log ? Math.log10(shown) : shown);
    const shownAt = (control, text) => (control.log ? String(10 ** Number(text)) : text);

    function put(index) {
      const control = controls[index];
      const shown = written(state[index] / control.scale);
      element(`slider-${index}`).value = position(control, shown);
      element(`slider-${index}`).setAttribute("aria-valuetext", `${shown} ${control.unit}`.trim());
      element(`number-${index}`).value = shown;
    }

    function take(index, text, figures) {
      const number = Number(text);
      if (text.trim() === "" || !Number.isFinite(number)) return;
      const rounded = Number(number.toPrecision(figures));
      state[index] = bounded(controls[index], rounded * controls[index].scale);
      changed(index);
    }

    controls.forEach((control, index) => {
      const [slider, number] = [element(`slider-${index}`), element(`number-${index}`)];
      slider.addEventListener("input", () => { take(index, shownAt(control, slider.value), 4); put(index); });
      number.addEventListener("input", () => take(index, number.value, 15));
      number.addEventListener("change", () => put(index));
      put(index);
    });
    return () => controls.forEach((_, index) => put(index));
  }

  return Object.freeze({ digits, quantity, draw, framed, curves, sliders });
})();
