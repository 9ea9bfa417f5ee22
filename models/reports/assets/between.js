/* A table of solved points, read between them: linear along logarithms of the axes and the output.
   Nothing is said beyond the table. */
function betweenPoints(table, v) {
  const cells = table.axes.map((axis, k) => {
    const place = Math.log(v[k]);
    if (!(place > axis[0] - 1e-9 && place < axis[axis.length - 1] + 1e-9)) return null;
    let low = 0;
    while (low < axis.length - 2 && place > axis[low + 1]) low += 1;
    const share = (place - axis[low]) / (axis[low + 1] - axis[low]);
    return [low, Math.min(Math.max(share, 0), 1)];
  });
  if (cells.includes(null)) return [NaN, ...table.others.map(() => NaN)];
  const corners = [[0, 1]];
  table.axes.forEach((axis, k) => {
    const [low, share] = cells[k];
    for (const [place, weight] of corners.splice(0)) {
      corners.push([place * axis.length + low, weight * (1 - share)]);
      corners.push([place * axis.length + low + 1, weight * share]);
    }
  });
  const mean = (values) => corners.reduce((sum, [place, weight]) => sum + weight * values[place], 0);
  return [Math.exp(mean(table.output)), ...table.others.map(mean)];
}
