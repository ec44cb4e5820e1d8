// All ops of a run, page by page from the server. What a system under test has said is only ever text here.
(() => {
'use strict';
const $ = id => document.getElementById(id);
const all = $('all');
if (!all) return;
const form = $('all-filter'), rows = $('all-rows'), range = $('all-range');
let begins = [0], next = -1, asked = 0;

const cell = (text, cls) => {
  const td = document.createElement('td');
  td.textContent = text === undefined ? '' : text;
  if (cls) td.className = cls;
  return td;
};

function row({op, words, took}) {
  const tr = document.createElement('tr');
  tr.id = 'all-' + op.index;
  const value = cell(words);
  if (op.error) {
    const e = document.createElement('span');
    e.className = 'error';
    e.textContent = ' ' + op.error;
    value.append(e);
  }
  if (took) {
    const t = document.createElement('span');
    t.className = 'took';
    t.textContent = (took / 1e6).toPrecision(3) + ' ms';
    value.append(t);
  }
  tr.append(cell(op.index, 'n'), cell((op.time / 1e9).toFixed(3) + ' s', 'n'), cell(op.process), cell(op.node), cell(op.f), cell(op.type, op.type), value);
  return tr;
}

async function load(at) {
  const query = new URLSearchParams(), mine = ++asked;
  for (const name of ['node', 'type', 'text']) if (form.elements[name].value) query.set(name, form.elements[name].value);
  if (at !== undefined) query.set('at', at); else query.set('from', begins[begins.length - 1]);
  const answer = await fetch(all.dataset.api + '?' + query);
  const page = await answer.json();
  if (mine !== asked) return; // somebody has typed on
  if (!answer.ok) { range.textContent = page.error; return; }
  if (at !== undefined) begins = [page.from];
  next = page.next;
  rows.replaceChildren(...page.ops.map(row));
  const some = page.ops.length;
  range.textContent = some ? `ops ${page.ops[0].op.index} to ${page.ops[some - 1].op.index} of ${page.total}` : `none of ${page.total} ops from there on`;
  $('all-on').disabled = next < 0;
  $('all-back').disabled = begins.length < 2;
}

const begin = () => {
  const at = form.elements.at.value.trim();
  begins = [0];
  return load(at === '' ? undefined : /[a-zµ]$/.test(at) ? at : at + 's');
};
form.addEventListener('input', begin);
form.addEventListener('submit', e => { e.preventDefault(); begin(); });
$('all-on').addEventListener('click', () => { if (next >= 0) { begins.push(next); load(); } });
$('all-back').addEventListener('click', () => { if (begins.length > 1) { begins.pop(); load(); } });

// Who came for an instant gets the timeline around it, and the ops from there on.
const found = $('found');
if (found) {
  found.click();
  form.elements.at.value = (found.dataset.at / 1000).toFixed(3) + 's';
}

// The first page is asked for when somebody comes near it.
new IntersectionObserver((seen, o) => {
  if (seen.some(s => s.isIntersecting)) { o.disconnect(); begin(); }
}, {rootMargin: '400px'}).observe(all);
})();
