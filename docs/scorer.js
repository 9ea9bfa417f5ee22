/* Pages come first in the search, then names to import; the modules behind them last. */
var Scorer = {
  objNameMatch: 6,
  objPartialMatch: 2,
  objPrio: { 0: -5, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
