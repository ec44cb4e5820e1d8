// Links that have a key: data-key names it. + and = are one key, as are - and _.
(() => {
'use strict';
const same = {'=': '+', '_': '-', '−': '-'};
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|SELECT|TEXTAREA/.test(e.target.tagName)) return;
  const link = document.querySelector(`[data-key="${CSS.escape(same[e.key] || e.key)}"]`);
  if (link) { link.click(); e.preventDefault(); }
});
})();
