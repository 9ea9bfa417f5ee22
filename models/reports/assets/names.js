/* On a narrow screen, a long name in a table goes on after an underscore. */
for (const cell of document.querySelectorAll("th, td")) {
  const parts = cell.textContent.split(/(?<=_)/);
  if (cell.childElementCount || parts.length === 1) continue;
  cell.replaceChildren(...parts.flatMap((part) => [part, document.createElement("wbr")]));
}
