// The page stands without this script; with it one can look at one property alone, point at squares and open cells.
(() => {
'use strict';
document.documentElement.classList.add('scripted');
const $ = id => document.getElementById(id);
const make = (name, text, attributes) => {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  return Object.assign(e, attributes);
};
const data = JSON.parse($('data').textContent);
const map = $('map');
const cells = [...map.querySelectorAll('td')];
cells.forEach((td, i) => { td.pair = data.pairs[i]; td.removeAttribute('title'); td.tabIndex = i ? -1 : 0; });
for (const a of map.querySelectorAll('.m > a')) a.tabIndex = -1; // an open cell has the same links, with names

for (const b of document.querySelectorAll('[data-copy]')) {
  b.addEventListener('click', () => {
    const say = word => { b.textContent = word; setTimeout(() => { b.textContent = 'copy'; }, 1500); };
    const select = () => { getSelection().selectAllChildren($(b.dataset.copy)); say('selected'); };
    if (navigator.clipboard) navigator.clipboard.writeText($(b.dataset.copy).textContent).then(() => say('copied'), select);
    else select();
  });
}

$('chips').addEventListener('click', e => {
  const b = e.target.closest('button');
  if (!b) return;
  const p = Number(b.dataset.p);
  for (const o of $('chips').children) o.setAttribute('aria-pressed', o === b);
  map.classList.toggle('single', p >= 0);
  for (const m of map.querySelectorAll('.m')) {
    for (let i = 0; i < m.children.length; i++) m.children[i].classList.toggle('shown', i === p);
  }
});

const words = c => {
  const parts = [];
  for (const [n, what] of [[c.broken, 'broke the promise'], [(c.invalid || 0) - (c.broken || 0), 'violated it'], [c.valid, 'held'], [c.unknown, 'could not tell'], [c.untested, 'did not test it']]) {
    if (n) parts.push(`${n} ${what}`);
  }
  return parts.length ? 'of the runs ' + parts.join(', ') : 'no run';
};
const verdict = c => c.verdict + (c.promised && c.verdict === 'valid' ? ', promised' : '');

const tip = make('div', undefined, {id: 'tip', hidden: true});
document.body.append(tip);
map.addEventListener('pointermove', e => {
  const td = e.target.closest('td');
  const square = e.target.closest('.m > *');
  if (!td) { tip.hidden = true; return; }
  const head = `${td.pair.row} · ${td.pair.column}`;
  if (td.pair.barred) tip.textContent = `${head}\nno run: ${td.pair.barred}`;
  else if (square) {
    const p = [...square.parentNode.children].indexOf(square);
    const c = td.pair.cells[p];
    tip.textContent = `${head} · ${data.properties[p]}\n${verdict(c)}: ${words(c)}` + (c.why ? `\nseed ${c.seed}: ${c.why}` : '');
  } else tip.textContent = `${head}\n${td.pair.runs} runs`;
  tip.hidden = false;
  const wide = document.documentElement.clientWidth;
  tip.style.left = Math.max(8, Math.min(e.pageX + 14, scrollX + wide - tip.offsetWidth - 12)) + 'px';
  tip.style.top = (e.clientY + 24 + tip.offsetHeight > innerHeight ? e.pageY - tip.offsetHeight - 12 : e.pageY + 18) + 'px';
});
map.addEventListener('pointerleave', () => { tip.hidden = true; });

const inspector = $('inspector');
let on = null;
const close = () => {
  if (on && inspector.contains(document.activeElement)) on.focus();
  inspector.hidden = true;
  document.body.classList.remove('inspecting');
  if (on) on.classList.remove('on');
  on = null;
};
const open = td => {
  if (on) on.classList.remove('on');
  on = td;
  td.classList.add('on');
  const pair = td.pair;
  inspector.querySelector('h2').textContent = `${pair.row} · ${pair.column}`;
  inspector.querySelector('.keys').textContent = pair.barred ? `no run: ${pair.barred}` : `${pair.runs} runs`;
  const body = inspector.querySelector('tbody');
  body.replaceChildren();
  pair.cells.forEach((c, p) => {
    const tr = make('tr');
    const square = td.querySelectorAll('.m > *')[p];
    const sign = make('i', undefined, {className: 'swatch ' + (square.className.replace(' shown', '').replace('shown', '') || 'x')});
    const name = make('td');
    name.append(sign, data.properties[p]);
    const what = make('td');
    what.append(c.why || '');
    if (c.while) what.append(make('div', `promised while ${c.while}`, {className: 'soft'}));
    if (c.command) what.append(make('code', c.command));
    const run = make('td');
    if (c.run) run.append(make('a', `seed ${c.seed}`, {href: c.run.split('/').map(encodeURIComponent).join('/') + '/report.html'}));
    tr.append(name, make('td', verdict(c)), make('td', words(c), {className: 'soft'}), what, run);
    body.append(tr);
  });
  inspector.hidden = false;
  document.body.classList.add('inspecting');
};
map.addEventListener('click', e => {
  const td = e.target.closest('td');
  if (!td || e.target.closest('a')) return;
  if (td === on) close(); else open(td);
});
inspector.querySelector('.close').addEventListener('click', close);
addEventListener('keydown', e => {
  if (e.key === 'Escape') close();
  const at = on || map.contains(document.activeElement) && document.activeElement.closest('td');
  if (e.key === 'Enter' && at && at === document.activeElement) {
    open(at);
    inspector.focus();
    e.preventDefault();
  }
  const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -data.columns, ArrowDown: data.columns}[e.key];
  if (!at || !step) return;
  const next = cells[cells.indexOf(at) + step];
  if (!next) return;
  e.preventDefault();
  if (on) open(next);
  else next.focus();
  next.scrollIntoView({block: 'nearest', inline: 'nearest'});
});
})();
