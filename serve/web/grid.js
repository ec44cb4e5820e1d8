// Tables whose cells are links: arrow keys go from cell to cell.
(() => {
'use strict';
for (const table of document.querySelectorAll('[data-grid]')) {
  table.addEventListener('keydown', e => {
    const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[e.key], td = e.target.closest('td');
    if (!step || !td) return;
    const rows = [...table.tBodies[0].rows];
    for (let r = rows.indexOf(td.parentNode) + step[0], c = td.cellIndex + step[1]; rows[r] && rows[r].cells[c]; r += step[0], c += step[1]) {
      const to = rows[r].cells[c].querySelector('a');
      if (to) { to.focus(); break; }
    }
    e.preventDefault();
  });
}
})();
