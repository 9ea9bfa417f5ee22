/* A table of solved points, read between them. Along the load they go by factors, evenly, or by
   the share of the load that saturates, on axes where the logarithm of the output changes evenly;
   along the others by factors. Nothing is said beyond the table. */
function betweenPoints(table, v) {
  const axis = (values, place) => {
    let low = 0;
    while (low < values.length - 2 && place > values[low + 1]) low += 1;
    return [low, Math.min(Math.max((place - values[low]) / (values[low + 1] - values[low]), 0), 1)];
  };
  const isOn = (values, place) => place > values[0] - 1e-9 && place < values[values.length - 1] + 1e-9;
  const reader = (axes, places) => {
    const corners = [[0, 1]];
    axes.forEach((values, k) => {
      const [low, share] = axis(values, places[k]);
      for (const [place, weight] of corners.splice(0)) {
        corners.push([place * values.length + low, weight * (1 - share)]);
        corners.push([place * values.length + low + 1, weight * share]);
      }
    });
    return (values) => corners.reduce((sum, [place, weight]) => sum + weight * values[place], 0);
  };
  const [first, ...inner] = table.axes;
  const rest = v.slice(1).map(Math.log);
  const limit = table.full.length ? Math.exp(Math.min(...table.full.map(reader(inner, rest)))) : Infinity;
  const share = table.along === "share" ? v[0] / limit : 1;
  const along = { jobs: Math.log, evenly: Number, share: () => (share < 1 ? -Math.log1p(-share) : Infinity) };
  const place = Math.max(along[table.along](v[0]), table.along === "jobs" ? -Infinity : first[0]);
  const on = isOn(first, place) && inner.every((values, k) => isOn(values, rest[k]));
  const mean = reader(table.axes, [Math.min(place, first[first.length - 1]), ...rest]);
  const output = place === Infinity ? Infinity : on ? Math.exp(mean(table.output)) : NaN;
  const beyond = place === Infinity ? share / -Math.expm1(-first[first.length - 1]) : 1;
  return [output, ...table.others.map((values) => beyond * mean(values)), limit];
}
