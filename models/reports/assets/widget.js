/* A notebook's panel: sends the sliders' values to Python, and draws what comes back. */

/* Whether what stands behind an element is dark. */
function isDark(element) {
  for (let node = element.parentElement; node; node = node.parentElement) {
    const [red, green, blue, opacity = 1] = (getComputedStyle(node).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    if (opacity > 0.5 && blue !== undefined) return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function options(select, names, chosen) {
  select.replaceChildren(...[...new Set([chosen, ...names])].map((name) => new Option(name.replaceAll("_", " "), name)));
  select.value = chosen;
}

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "headway-panel";
  root.innerHTML = model.get("markup");
  el.append(root);
  const prefix = root.querySelector("svg").id.replace(/-picture$/, "");
  const element = (name) => root.querySelector(`#${prefix}-${name}`);
  const controls = model.get("controls");
  const state = controls.map((control) => model.get("values")[control.name]);

  function send(changed) {
    for (const [name, value] of Object.entries(changed)) model.set(name, value);
    model.save_changes();
  }

  const values = () => Object.fromEntries(controls.map((control, k) => [control.name, state[k]]));
  const put = panelParts.sliders(controls, state, element, () => send({ values: values() }));
  options(element("output"), model.get("choices"), model.get("output"));
  options(element("over"), controls.map((control) => control.name), model.get("over"));
  for (const name of ["output", "over"]) {
    element(name).addEventListener("change", (event) => send({ [name]: event.target.value }));
  }
  element("reset").addEventListener("click", () => {
    controls.forEach((control, k) => { state[k] = control.value; });
    put();
    send({ values: values() });
  });
  element("copy").addEventListener("click", () => navigator.clipboard?.writeText(element("code").textContent));

  function show() {
    const view = model.get("view");
    root.classList.toggle("dark", isDark(root));
    element("picture").classList.toggle("stale", view.error !== "");
    element("error").hidden = view.error === "";
    element("error").textContent = view.error;
    if (!view.curve) return;
    const places = panelParts.framed(element("picture"), view.x, view.y);
    const drawn = panelParts.curves(element("picture"), prefix);
    drawn.before(view.before, places);
    drawn.curve(view.curve, places);
    drawn.limit(view.limit === null ? null : places.x(view.limit));
    const [x, y] = view.marker;
    drawn.marker(places.x(x), y === null ? null : places.y(y));
    element("readings").replaceChildren(...view.readings.map(([name, text]) => {
      const [group, term, detail] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
      [term.textContent, detail.textContent] = [name, text];
      group.append(term, detail);
      return group;
    }));
    element("tables").innerHTML = view.tables; /* Python has escaped all text in it */
    element("code").textContent = view.code;
  }

  /* Python may move the sliders too; those that a hand is on stay. */
  function follow() {
    const told = model.get("values");
    if (controls.every((control, k) => told[control.name] === state[k])) return;
    if (root.contains(document.activeElement) && document.activeElement.tagName === "INPUT") return;
    controls.forEach((control, k) => { state[k] = told[control.name]; });
    put();
  }

  model.on("change:view", show);
  model.on("change:values", follow);
  show();
  const drawn = requestAnimationFrame(show);
  return () => {
    cancelAnimationFrame(drawn);
    model.off("change:view", show);
    model.off("change:values", follow);
  };
}

export default { render };
