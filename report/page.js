// The page stands without this script; with it one can zoom, pan and point. Shapes are stretched by one transform, texts
// and marks are placed anew.
(() => {
'use strict';
document.documentElement.classList.add('scripted');
const $ = id => document.getElementById(id);
const make = (name, attributes, text) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const a in attributes) e.setAttribute(a, attributes[a]);
  if (text !== undefined) e.textContent = text;
  return e;
};

for (const b of document.querySelectorAll('[data-copy]')) {
  b.addEventListener('click', () => {
    const text = $(b.dataset.copy).textContent;
    const say = word => { b.textContent = word; setTimeout(() => { b.textContent = 'copy'; }, 1500); };
    const select = () => { getSelection().selectAllChildren($(b.dataset.copy)); say('selected'); };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => say('copied'), select);
    else select();
  });
}

const filter = $('filter');
if (filter) {
  const rows = [...document.querySelectorAll('#ops tbody tr')];
  const apply = () => {
    const text = filter.text.value.toLowerCase(), node = filter.node.value, cited = filter.cited.checked;
    for (const r of rows) {
      r.hidden = (cited && !r.classList.contains('cited')) || (node && r.dataset.node !== node) ||
        (text && !r.textContent.toLowerCase().includes(text));
    }
  };
  filter.addEventListener('input', apply);
  filter.addEventListener('submit', e => e.preventDefault());
  addEventListener('hashchange', () => {
    const r = document.querySelector('#ops tr:target');
    if (r && r.hidden) { filter.reset(); apply(); r.scrollIntoView(); }
  });
}

const svg = $('picture');
if (!svg) return;
const overview = $('overview'), brush = overview.querySelector('.brush'), tip = $('tip'), pointer = svg.querySelector('.pointer');
let data, layers, whole, labels, axis, patterns, clip, end, closest;
let width = 0, from = 0, to = 0, hot = null, waiting = false, moved = false;

// adopt takes the picture as it is in the page.
function adopt(chart) {
  data = chart;
  layers = svg.querySelectorAll('.z');
  whole = overview.querySelector('.whole');
  labels = svg.querySelector('.labels');
  axis = svg.querySelector('.axis');
  patterns = svg.querySelectorAll('pattern[patternTransform]');
  clip = svg.querySelector('clipPath rect');
  end = Math.max(data.end, 1);
  closest = Math.min(end, 5);
}
adopt(JSON.parse($('data').textContent));
to = end;

// A picture of a run under way is put in the place of the one before it. Who looked at the whole run, or at its end, does still.
svg.addEventListener('picture', e => {
  const all = from <= 0 && to >= end, last = to >= end, length = to - from;
  for (const [into, text, keep] of [[svg, e.detail.body, pointer], [overview, e.detail.overview, brush]]) {
    const doc = new DOMParser().parseFromString(`<svg xmlns="http://www.w3.org/2000/svg">${text}</svg>`, 'image/svg+xml');
    into.replaceChildren(...[...doc.documentElement.childNodes].map(n => document.adoptNode(n)), keep);
  }
  adopt(e.detail.data);
  if (all) [from, to] = [0, end];
  else if (last) [from, to] = [Math.max(0, end - length), end];
  width = 0;
  resize();
});
// Others may point at an instant, as the pointer does.
svg.addEventListener('instant', e => { hot = e.detail === null ? null : {x: xOf(e.detail), y: -99, told: e.detail}; later(); });

const room = () => width - data.left - data.gutter;
const scale = () => room() / (to - from);
const xOf = t => data.left + (t - from) * scale();
const tOf = x => from + (x - data.left) / scale();

const time = (t, step) => {
  const sixty = n => String(Math.floor(n) % 60).padStart(2, '0');
  if (step >= 1000 && t >= 86400000) return Math.floor(t / 3600000) + ':' + sixty(t / 60000) + ':' + sixty(t / 1000);
  if (step >= 1000 && t >= 60000) return Math.floor(t / 60000) + ':' + sixty(t / 1000);
  return (t / 1000).toFixed(step < 10 ? 3 : step < 100 ? 2 : step < 1000 ? 1 : 0) + ' s';
};
const span = d => d < 1000 ? +d.toPrecision(3) + ' ms' : (d / 1000).toFixed(2) + ' s';

const ruler = document.createElement('canvas').getContext('2d');
const widths = new Map();
const widthOf = text => {
  if (!widths.has(text)) {
    ruler.font = '600 11px ' + getComputedStyle(svg).fontFamily;
    widths.set(text, ruler.measureText(text).width + 7);
  }
  return widths.get(text);
};

function show(a, b) {
  const length = Math.min(end, Math.max(closest, b - a));
  a = Math.max(0, Math.min(end - length, (a + b - length) / 2));
  from = a; to = a + length;
  later(true);
}

function zoom(factor, t = (from + to) / 2) {
  const length = Math.min(end, Math.max(closest, (to - from) * factor));
  const a = t - (t - from) * length / (to - from);
  show(Math.max(0, Math.min(end - length, a)), Math.max(0, Math.min(end - length, a)) + length);
}

// later draws before the next frame: everything if the view has moved, else only what follows the pointer.
function later(move) {
  moved = moved || move;
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (moved) draw(); else drawPointer();
  });
}

function draw() {
  moved = false;
  const k = scale();
  for (const l of layers) l.setAttribute('transform', `translate(${data.left - from * k},0) scale(${k},1)`);
  for (const p of patterns) p.setAttribute('patternTransform', `scale(${1 / k},1)`);
  drawAxis();
  drawLabels(k);
  drawBrush();
  drawPointer();
}

function drawAxis() {
  const length = to - from, most = room() / 90;
  const step = data.steps.find(s => length / s <= most) || data.steps[data.steps.length - 1] * Math.ceil(length / data.steps[data.steps.length - 1] / most);
  const parts = [];
  for (let t = Math.ceil(from / step) * step; t <= to + 0.01; t += step) {
    const x = xOf(t), text = time(t, step);
    parts.push(make('path', {class: 'grid', d: `M${x} 24V${data.height - 20}`}));
    for (const y of [15, data.height - 6]) parts.push(make('text', {class: 'tick', x, y}, text));
  }
  axis.replaceChildren(...parts);
}

function drawLabels(k) {
  const parts = [];
  for (const [f, t, beyond, y, cls, texts, inset, before] of data.labels) {
    if (Math.max(t, beyond ?? end) <= from || f >= to) continue;
    const left = Math.max(f, from), right = t;
    for (const text of texts) {
      const need = widthOf(text);
      if (need - 4 + inset <= (right - left) * k) { parts.push(make('text', {class: cls, x: xOf(left) + inset, y}, text)); break; }
      if (t >= from && beyond === null) { parts.push(make('text', {class: cls, x: Math.min(xOf(t) + 5, width - need), y}, text)); break; }
      if (t >= from && need <= (beyond - t) * k) { parts.push(make('text', {class: cls, x: xOf(t) + 5, y}, text)); break; }
      if (t >= from && need <= (before - from) * k) { parts.push(make('text', {class: cls, x: xOf(before) - need + 1, y}, text)); break; }
    }
  }
  const last = new Map();
  for (const [at, y, cls, n, op] of data.marks) {
    const x = xOf(at), row = n + ' ' + y;
    if (at < from || at > to || x - (last.has(row) ? last.get(row) : -9) < 4) continue;
    last.set(row, x);
    parts.push(make('circle', {class: cls, cx: x, cy: y, r: 3.6, 'data-op': op, 'data-n': n}));
  }
  labels.replaceChildren(...parts);
}

function drawBrush() {
  const k = room() / end, a = data.left + from * k, b = data.left + to * k, last = data.left + end * k;
  whole.setAttribute('transform', `translate(${data.left},0) scale(${k},1)`);
  if (from <= 0 && to >= end) { brush.replaceChildren(); return; }
  brush.replaceChildren(
    make('rect', {class: 'shade', x: data.left, width: a - data.left, height: 34}),
    make('rect', {class: 'shade', x: b, width: Math.max(0, last - b), height: 34}),
    make('rect', {class: 'frame', x: a, y: 1, width: Math.max(2, b - a), height: 32, rx: 3}),
    make('rect', {class: 'grip', x: a - 2, y: 11, width: 4, height: 12, rx: 2}),
    make('rect', {class: 'grip', x: b - 2, y: 11, width: 4, height: 12, rx: 2}));
}

// What is under the pointer: in the nearest row, the shortest stretch that holds the instant, within a few pixels; of those, the nearest.
function under(x, y) {
  const t = tOf(x), slack = 3 / scale(), length = i => i[1] - i[0], off = i => Math.max(i[0] - t, t - i[1]);
  let best = null, nearest = Infinity;
  for (const row of data.rows) {
    const distance = Math.abs(y - row.y - row.h / 2);
    if (distance > row.h / 2 + 1 || distance > nearest) continue;
    for (const item of row.s) {
      if (t < item[0] - slack || t > item[1] + slack) continue;
      if (distance < nearest || length(item) < length(best) || length(item) === length(best) && off(item) < off(best)) [best, nearest] = [item, distance];
    }
  }
  return best;
}

function drawPointer() {
  if (hot && hot.told !== undefined) hot.x = xOf(hot.told);
  if (!hot || hot.x < data.left - 4 || hot.x > width - data.gutter + 4) {
    pointer.replaceChildren();
    tip.hidden = true;
    return;
  }
  const t = Math.max(0, Math.min(end, tOf(hot.x))), x = xOf(t), step = (to - from) / room();
  const text = time(t, step < 1 ? 1 : 10), w = text.length * 6.4 + 12;
  const parts = [make('line', {x1: x, x2: x, y1: 22, y2: data.height - 20}),
    make('rect', {class: 'when', x: x - w / 2, y: 3, width: w, height: 17, rx: 4}), make('text', {x, y: 15}, text)];
  if (hot.anchor !== undefined) {
    parts.unshift(make('rect', {class: 'select', x: Math.min(hot.anchor, hot.x), width: Math.abs(hot.x - hot.anchor), y: 22, height: data.height - 42}));
  }
  pointer.replaceChildren(...parts);
  const item = hot.dragging ? null : under(hot.x, hot.y);
  tip.hidden = !item && !hot.mark;
  if (tip.hidden) return;
  let words = '';
  if (hot.mark) {
    const row = $('op-' + hot.mark.dataset.op);
    words = `evidence of ${hot.mark.dataset.n}: op ${hot.mark.dataset.op}` + (row ? '\n' + [3, 4, 5, 6, 7].map(i => row.cells[i].textContent).join('  ').trim() : '');
  } else {
    words = data.words[item[2]] + (item[1] - item[0] > 0 ? `\n${time(item[0], 1)} – ${time(item[1], 1)} (${span(item[1] - item[0])})` : `\nat ${time(item[0], 1)}`);
  }
  tip.textContent = words;
  const box = svg.parentNode.getBoundingClientRect(), me = svg.getBoundingClientRect();
  const px = hot.x + me.left - box.left, py = hot.y + me.top - box.top;
  tip.style.left = Math.max(4, px + 16 + tip.offsetWidth > box.width ? px - 16 - tip.offsetWidth : px + 16) + 'px';
  tip.style.top = Math.max(0, py + 16 + tip.offsetHeight > box.height ? py - 12 - tip.offsetHeight : py + 16) + 'px';
}

const place = e => {
  const box = svg.getBoundingClientRect();
  return {x: e.clientX - box.left, y: e.clientY - box.top};
};

svg.addEventListener('pointerdown', e => {
  if (e.button !== 0 || e.pointerType === 'touch') return;
  if (e.target.classList.contains('dot')) return;
  hot = place(e);
  hot.start = {x: hot.x, from, to};
  if (e.shiftKey) hot.anchor = hot.x;
  svg.setPointerCapture(e.pointerId);
});
svg.addEventListener('pointermove', e => {
  const p = place(e);
  if (hot && hot.start && e.buttons) {
    p.start = hot.start;
    p.anchor = hot.anchor;
    p.dragging = hot.dragging || Math.abs(p.x - p.start.x) > 3;
    if (p.dragging && p.anchor === undefined) {
      const d = (p.start.x - p.x) / scale(), length = p.start.to - p.start.from;
      from = Math.max(0, Math.min(end - length, p.start.from + d));
      to = from + length;
      svg.classList.add('panning');
      moved = true;
    }
  }
  if (e.target.classList.contains('dot')) p.mark = e.target;
  hot = p;
  later();
});
const release = () => {
  svg.classList.remove('panning');
  if (hot && hot.anchor !== undefined && hot.dragging) show(tOf(Math.min(hot.anchor, hot.x)), tOf(Math.max(hot.anchor, hot.x)));
  if (hot) hot = {x: hot.x, y: hot.y};
  later();
};
svg.addEventListener('pointerup', release);
svg.addEventListener('pointercancel', release);
svg.addEventListener('pointerleave', () => { if (!hot || !hot.start) { hot = null; later(); } });
svg.addEventListener('dblclick', e => zoom(0.4, tOf(place(e).x)));
svg.addEventListener('click', e => { if (e.target.classList.contains('dot')) location.hash = 'op-' + e.target.dataset.op; });
svg.addEventListener('wheel', e => {
  const sideways = Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey;
  if (sideways) {
    const d = (e.deltaX || e.deltaY) / scale(), length = to - from;
    const a = Math.max(0, Math.min(end - length, from + d));
    show(a, a + length);
  } else if (e.ctrlKey || e.metaKey || document.activeElement === svg) {
    zoom(Math.exp(Math.max(-80, Math.min(80, e.deltaY * (e.deltaMode ? 30 : 1))) * 0.004), tOf(place(e).x));
  } else return;
  e.preventDefault();
}, {passive: false});

let violation = -1;
const steps = {
  ArrowLeft: () => { const d = Math.min(from, (to - from) / 6); show(from - d, to - d); },
  ArrowRight: () => { const d = Math.min(end - to, (to - from) / 6); show(from + d, to + d); },
  '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': () => show(0, end), Home: () => show(0, end),
  n: () => next(1), p: () => next(-1), Escape: () => svg.blur(),
};
function next(d) {
  if (!data.flags.length) return;
  violation = (violation + d + data.flags.length) % data.flags.length;
  frame(data.flags[violation][0], data.flags[violation][1]);
  $('timeline').scrollIntoView({block: 'nearest'});
}
function frame(a, b) {
  const margin = Math.max((b - a) * 0.25, end / 200, 20);
  show(Math.max(0, a - margin), Math.min(end, b + margin));
}
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|SELECT|TEXTAREA/.test(e.target.tagName)) return;
  if (e.key.startsWith('Arrow') && document.activeElement !== svg) return;
  const step = steps[e.key];
  if (step) { step(); if (e.key.startsWith('Arrow') || e.key === 'Home') e.preventDefault(); }
});

for (const b of document.querySelectorAll('[data-zoom]')) {
  b.addEventListener('click', () => b.dataset.zoom === 'all' ? show(0, end) : zoom(+b.dataset.zoom));
}
for (const b of document.querySelectorAll('[data-window]')) {
  b.addEventListener('click', () => { const [a, z] = b.dataset.window.split(',').map(Number); frame(a, z); });
}
for (const a of document.querySelectorAll('[data-at]')) {
  a.addEventListener('click', () => {
    const t = +a.dataset.at, half = Math.min(to - from, end / 10) / 2;
    show(Math.max(0, t - half), Math.min(end, t + half));
    hot = {x: xOf(t), y: 30};
    later();
  });
}

let grabbed = null;
overview.addEventListener('pointerdown', e => {
  const x = e.clientX - overview.getBoundingClientRect().left, k = room() / end, a = data.left + from * k, b = data.left + to * k;
  const t = Math.max(0, Math.min(end, (x - data.left) / k));
  if (to - from >= end) grabbed = {kind: 'new', t};
  else if (Math.abs(x - a) < 6) grabbed = {kind: 'a'};
  else if (Math.abs(x - b) < 6) grabbed = {kind: 'b'};
  else if (x > a && x < b) grabbed = {kind: 'all', t: t - from};
  else { const half = (to - from) / 2; show(Math.max(0, t - half), Math.max(0, t - half) + 2 * half); grabbed = {kind: 'all', t: half}; }
  overview.setPointerCapture(e.pointerId);
});
overview.addEventListener('pointermove', e => {
  if (!grabbed || !e.buttons) return;
  const t = Math.max(0, Math.min(end, (e.clientX - overview.getBoundingClientRect().left - data.left) / room() * end)), length = to - from;
  switch (grabbed.kind) {
  case 'new': if (Math.abs(t - grabbed.t) > closest) { from = Math.min(t, grabbed.t); to = Math.max(t, grabbed.t); } break;
  case 'a': from = Math.min(t, to - closest); break;
  case 'b': to = Math.max(t, from + closest); break;
  default: from = Math.max(0, Math.min(end - length, t - grabbed.t)); to = from + length;
  }
  later(true);
});
overview.addEventListener('pointerup', () => { grabbed = null; });

function resize() {
  const w = svg.parentNode.clientWidth - 12;
  if (w === width || w <= data.left + data.gutter) return;
  width = w;
  svg.setAttribute('viewBox', `0 0 ${w} ${data.height}`);
  overview.setAttribute('viewBox', `0 0 ${w} 34`);
  clip.setAttribute('width', room() + 3);
  widths.clear();
  draw();
}
resize();
new ResizeObserver(() => requestAnimationFrame(resize)).observe(svg.parentNode);
})();
