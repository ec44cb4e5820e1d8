// What every page does: it marks that scripts run, and copies commands.
(() => {
'use strict';
document.documentElement.classList.add('scripted');
const report = document.getElementById('picture'); // the report's own script copies there
document.addEventListener('click', e => {
  const b = e.target.closest('[data-copy]');
  if (!b || report) return;
  const from = document.getElementById(b.dataset.copy);
  const say = word => { b.textContent = word; setTimeout(() => { b.textContent = 'copy'; }, 1500); };
  const select = () => { getSelection().selectAllChildren(from); say('selected'); };
  if (navigator.clipboard) navigator.clipboard.writeText(from.textContent).then(() => say('copied'), select);
  else select();
});
document.addEventListener('change', e => {
  if (e.target.matches('.filters select')) e.target.form.requestSubmit();
});

// What scrolls can be reached by Tab, so that the arrow keys scroll it, unless something in it can.
const reach = () => {
  for (const e of document.querySelectorAll('.scroll,.map,.wide,.repeat code,pre')) {
    const scrolls = e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1;
    if (scrolls && !e.querySelector('a[href],button,input,select,[tabindex="0"]')) e.tabIndex = 0;
    else if (!e.hasAttribute('role')) e.removeAttribute('tabindex');
  }
};
reach();
addEventListener('resize', reach);
document.addEventListener('replaced', reach);
document.addEventListener('toggle', reach, true);
})();
