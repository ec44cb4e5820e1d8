// What every page does: it marks that scripts run, and copies commands.
(() => {
'use strict';
document.documentElement.classList.add('scripted');
if (document.getElementById('picture')) return; // the report's own script does it there
for (const b of document.querySelectorAll('[data-copy]')) {
  b.addEventListener('click', () => {
    const from = document.getElementById(b.dataset.copy);
    const say = word => { b.textContent = word; setTimeout(() => { b.textContent = 'copy'; }, 1500); };
    const select = () => { getSelection().selectAllChildren(from); say('selected'); };
    if (navigator.clipboard) navigator.clipboard.writeText(from.textContent).then(() => say('copied'), select);
    else select();
  });
}
for (const s of document.querySelectorAll('.filters select')) s.addEventListener('change', () => s.form.requestSubmit());
})();
