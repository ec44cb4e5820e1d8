// A Lamport diagram: a lane for each node, time to the right, an arrow for each message. Steps are all that happened, in order. What
// systems under test have said is only ever text here.
(() => {
'use strict';
const $ = id => document.getElementById(id);
const page = document.querySelector('.diagram-page'), svg = $('lamport'), form = $('stretch');
const make = (name, attributes, text) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const a in attributes) e.setAttribute(a, attributes[a]);
  if (text !== undefined) e.textContent = text;
  return e;
};
const lane = 84, top = 54, left = 96, gutter = 24;
const ms = t => (t / 1e6).toFixed(3) + ' ms', seconds = t => +(t / 1e9).toFixed(3) + ' s';
const size = n => n < 1000 ? n + ' B' : n < 1e6 ? +(n / 1e3).toPrecision(3) + ' kB' : +(n / 1e6).toPrecision(3) + ' MB';
let hues = new Map(), data = null, steps = [], at = -1, asked = 0;
const given = new URLSearchParams(location.search);
let from = +(given.get('at') ?? page.dataset.at), span = +(given.get('span') ?? page.dataset.span);
if (!(from >= 0)) from = 0;
if (!(span > 0)) span = 400;
let near = given.has('span') ? 0 : +page.dataset.near; // milliseconds, 0 for as many as are asked for
if (!given.has('span')) span *= Math.min(1, svg.parentNode.clientWidth / 800); // no more than can be told apart

async function load(keepURL) {
  form.elements.at.value = +from.toFixed(3);
  form.elements.span.value = +span.toFixed(3);
  if (!keepURL) history.replaceState(null, '', '?' + new URLSearchParams({at: +from.toFixed(3), span: +span.toFixed(3)}));
  const mine = ++asked;
  const answer = await fetch(page.dataset.api + 'messages?' + new URLSearchParams({at: from + 'ms', span: span + 'ms'}));
  const got = await answer.json();
  if (mine !== asked) return;
  if (!answer.ok) { $('about').textContent = got.error; return; }
  data = got;
  const single = data.messages.some(m => !m.of);
  if (single && near) { // where messages are known one by one, a shorter stretch tells more
    if (!given.has('at')) from += (+page.dataset.span - near) / 4; // as far before what is of interest
    [span, near] = [Math.min(span, near * Math.min(1, svg.parentNode.clientWidth / 800)), 0];
    return load(keepURL);
  }
  near = 0;
  const unread = new Set(data.messages.filter(m => m.of && m.of.unread).map(m => `${m.from} to ${m.to}: ${m.of.unread}`));
  if (single) data.messages = data.messages.filter(m => !m.of);
  steps = [];
  for (const m of data.messages) {
    if (m.sent >= data.from && m.sent <= data.to && !m.of) steps.push({t: m.sent, m, sent: true});
    if (m.arrived >= data.from && m.arrived <= data.to) steps.push({t: m.arrived, m});
  }
  for (const o of data.moments) steps.push({t: o.time, o});
  steps.sort((a, b) => a.t - b.t);
  const count = which => data.messages.filter(which).length, sums = data.messages.some(m => m.of);
  for (const e of document.querySelectorAll('.of-messages')) e.hidden = !!data.missing || sums;
  for (const e of document.querySelectorAll('.of-late')) e.hidden = !data.messages.some(m => m.late);
  for (const e of document.querySelectorAll('.of-again')) e.hidden = !data.messages.some(m => m.again);
  for (const e of document.querySelectorAll('.of-sums')) e.hidden = !sums;
  $('about').textContent = data.missing || (sums ? `what the nodes sent each other, second by second, from ${seconds(data.from)} to ${seconds(data.to)}` + (unread.size ? '' : ': no single message is known') :
    `${data.messages.length} messages in ${+span.toFixed(3)} ms, ${count(m => m.lost)} of them lost, ${count(m => m.late)} late`) + (data.left ? `; ${data.left} more are not drawn: look closer` : '') + (unread.size ? `; not all can be read (${[...unread].slice(0, 2).join('; ')}${unread.size > 2 ? `; and so on ${unread.size - 2} more links` : ''})` : '');
  at = -1;
  draw();
  step(0);
}

const width = () => Math.max(320, svg.parentNode.clientWidth);
const xOf = t => left + (t - data.from) / (data.to - data.from) * (width() - left - gutter);
const yOf = name => top + lane * data.nodes.indexOf(name);

// after is what is known of a node from a moment on; undefined where that does not change it.
const after = (o, n) => o.node === n && o.view ? o.view : (o.procs || {})[n];
const still = v => v.state === 'paused' || v.state === 'frozen';

// The lanes are coloured by who leads, in the order in which nodes first did within the stretch.
function lanes(parts, taken) {
  const colours = hues = new Map();
  const claim = n => { if (!colours.has(n)) colours.set(n, colours.size % 8); };
  for (const n of data.nodes) if (data.known[n] && data.known[n].role === 'leader') claim(n);
  for (const o of data.moments) if (o.view && o.view.role === 'leader') claim(o.node);
  for (const n of data.nodes) {
    const y = yOf(n), turns = [{t: data.from, v: data.known[n]}, ...data.moments.filter(o => after(o, n)).map(o => ({t: o.time, v: after(o, n)}))];
    turns.forEach((turn, i) => {
      const end = i + 1 < turns.length ? turns[i + 1].t : data.to, v = turn.v;
      let cls = 'nobody';
      if (v && v.state && !still(v)) cls = 'down';
      else if (v && v.role === 'leader') cls = 'lead id' + colours.get(n);
      else if (v && v.role === 'candidate') cls = 'candidate';
      else if (v && colours.has(v.leader)) cls = 'tint' + colours.get(v.leader);
      const thick = cls === 'down' ? 2 : v && (v.role === 'leader' || v.role === 'candidate') ? 14 : 8, x = xOf(turn.t), w = xOf(end) - x;
      for (const c of v && still(v) ? [cls, 'paused'] : [cls]) parts.push(make('path', {class: c, d: `M${x} ${y - thick / 2}h${Math.max(0.5, w)}v${thick}h${-Math.max(0.5, w)}z`}));
      if (v && v.term && w > 34) {
        parts.push(make('text', {class: 'term', x: x + 3, y: y - thick / 2 - 4}, 'term ' + v.term));
        taken.push({x: x + 3, y: y - thick / 2 - 4, wide: 38});
      }
    });
    const name = make('text', {class: 'name', x: 12, y: y + 4}, n.length > 11 ? n.slice(0, 10) + '…' : n);
    parts.push(name);
  }
}

// fate is why a message was lost or late.
const fate = m => m.lost ? `, lost: ${m.lost}` : m.late ? `, late: ${m.late}` : '';

// ends are the connections that one node has begun and ended with another in a second.
const ends = m => ['opened', 'closed'].map(what => {
  const n = m.of && m.of.connections ? m.of.connections.reduce((sum, c) => sum + c[what], 0) : 0;
  return n ? ` · ${n} ${what}` : '';
}).join('');

function draw() {
  const w = width(), h = top + lane * (data.nodes.length - 1) + 52, parts = [], taken = []; // by texts: none may hide another
  svg.setAttribute('viewBox', `0 0 ${w} ${h}`);
  svg.setAttribute('height', h);
  const each = (data.to - data.from) / Math.max(2, Math.floor((w - left) / 110)), power = 10 ** Math.floor(Math.log10(each));
  const tick = [1, 2, 5, 10].map(k => k * power).find(k => k >= each);
  for (let t = Math.ceil(data.from / tick) * tick; t <= data.to; t += tick) {
    const x = xOf(t);
    parts.push(make('path', {class: 'gridline', d: `M${x} 24V${h - 8}`}), make('text', {class: 'tick', x, y: 15}, (t / 1e9).toFixed(span < 5 ? 4 : 3) + ' s'));
  }
  lanes(parts, taken);
  const links = data.nodes.flatMap(a => data.nodes.filter(b => b !== a).map(b => a + ' ' + b));
  data.messages.forEach((m, i) => {
    let x1 = xOf(m.sent), y1 = yOf(m.from), x2 = xOf(m.arrived);
    const y2 = yOf(m.to);
    if (m.of) { // nobody knows when in that second: each link has its own place in it
      x1 = x2 = x1 + (x2 - x1) * (links.indexOf(m.from + ' ' + m.to) + 0.5) / links.length;
      if (x1 > w - gutter) return;
    }
    // What was lost ends short of its receiver, and not where anybody else is.
    const [ex, ey] = m.lost ? [m.of ? x2 : Math.max(x2, x1 + 5), y2 - Math.sign(y2 - y1) * lane * 0.4] : [x2, y2];
    if (ex < left) return;
    if (x1 < left) { y1 += (ey - y1) * (left - x1) / (ex - x1); x1 = left; } // it was sent before
    const g = make('g', {class: 'message' + (m.lost ? ' gone' : m.late ? ' late' : '') + (m.again ? ' again' : '') + (m.of ? ' sum' : ''), 'data-m': i});
    g.append(make('title', {}, `${m.from} → ${m.to}: ${m.words}` + fate(m)), make('path', {class: 'hit', d: `M${x1} ${y1}L${ex} ${ey}`}), make('path', {class: 'line', d: `M${x1} ${y1}L${ex} ${ey}`}));
    if (m.of) g.querySelector('.line').style.strokeWidth = Math.max(1, Math.log10(m.bytes + 1) - 1);
    if (m.lost) g.append(make('path', {class: 'line cross', d: `M${ex - 4} ${ey - 4}l8 8M${ex - 4} ${ey + 4}l8 -8`}));
    else {
      const a = Math.atan2(ey - y1, ex - x1), p = d => `${ex - 8 * Math.cos(a + d)} ${ey - 8 * Math.sin(a + d)}`;
      g.append(make('path', {class: 'head', d: `M${ex} ${ey}L${p(0.35)}L${p(-0.35)}z`}));
    }
    const words = (m.kind || size(m.bytes || 0)) + (m.term ? ' ' + m.term : '') + ends(m), wide = 5.6 * words.length + 8;
    for (const part of [0.3, 0.5, 0.7, 0.4, 0.6, 0.2, 0.8]) {
      const x = x1 + (ex - x1) * part + 5, y = y1 + (ey - y1) * part + 3;
      if (x + wide > w || data.nodes.some(n => Math.abs(yOf(n) + 3 - y) < 14) || taken.some(b => x < b.x + b.wide && b.x < x + wide && Math.abs(b.y - y) < 13)) continue;
      taken.push({x, y, wide});
      g.append(make('text', {class: 'kind', x, y}, words));
      break;
    }
    parts.push(g);
  });
  data.moments.forEach((o, i) => {
    const x = xOf(o.time), known = data.nodes.includes(o.node), y = known ? yOf(o.node) : 30;
    const g = make('g', {class: 'moment' + (known ? '' : ' nemesis'), 'data-o': i});
    g.append(make('title', {}, (o.node ? o.node + ': ' : '') + o.words), known ? make('circle', {cx: x, cy: y, r: 4}) : make('path', {class: 'nemesis-line', d: `M${x} 22V${h - 8}`}));
    if (!known) { // on the side that has room for it
      const end = x + 8 + 5.8 * o.words.length > w && x > w / 2;
      g.append(make('text', {class: 'fault-name', x: end ? x - 4 : x + 4, y: 34, 'text-anchor': end ? 'end' : 'start'}, o.words));
    }
    parts.push(g);
  });
  parts.push(make('path', {class: 'cursor', id: 'cursor', d: ''}));
  const paused = make('pattern', {id: 'plain-paused', width: 5, height: 6, patternUnits: 'userSpaceOnUse'});
  paused.append(make('path', {class: 'bars', d: 'M0 0h2v6h-2z'}));
  svg.replaceChildren(paused, ...parts);
}

function step(to) {
  if (!data) return;
  at = Math.max(0, Math.min(steps.length - 1, to));
  const s = steps[at];
  for (const e of svg.querySelectorAll('.lit')) e.classList.remove('lit');
  if (!s) { $('what').textContent = 'Nothing happened in this stretch.'; $('step').textContent = 'Step'; knew(data.from); return; }
  const lit = svg.querySelector(s.m ? `[data-m="${data.messages.indexOf(s.m)}"]` : `[data-o="${data.moments.indexOf(s.o)}"]`);
  if (lit) { lit.classList.add('lit'); if (lit.classList.contains('message')) lit.parentNode.insertBefore(lit, $('cursor')); }
  $('cursor').setAttribute('d', `M${xOf(s.t)} 22V${svg.viewBox.baseVal.height - 8}`);
  $('step').textContent = `Step ${at + 1} of ${steps.length}, at ${(s.t / 1e9).toFixed(6)} s`;
  $('what').textContent = s.o ? (s.o.node ? s.o.node + ': ' : '') + s.o.words + ` (op ${s.o.index})` :
    s.m.of ? `${s.m.from} to ${s.m.to}, from ${seconds(s.m.sent)} to ${seconds(s.m.arrived)}: ${s.m.words}` + fate(s.m) :
    s.sent ? `${s.m.from} sends ${s.m.to}: ${s.m.words}` + (s.m.lost ? `. It will be lost: ${s.m.lost}.` : '') :
    s.m.lost ? `Lost on its way from ${s.m.from} to ${s.m.to}: ${s.m.words} (${s.m.lost})` :
    `${s.m.to} receives from ${s.m.from}: ${s.m.words}, after ${ms(s.m.arrived - s.m.sent)}` + (s.m.late ? ` (late: ${s.m.late})` : '');
  knew(s.t);
}

// knew shows what each node had said of the election until then, whether its process ran, and the last message that it had received.
function knew(t) {
  const cards = data.nodes.map(n => {
    let v = data.known[n], got = null;
    for (const o of data.moments) if (o.time <= t) v = after(o, n) || v;
    for (const m of data.messages) if (m.to === n && !m.lost && !m.of && m.arrived <= t && (!got || m.arrived >= got.arrived)) got = m;
    const card = document.createElement('article');
    card.className = 'node ' + (v ? v.state ? 'away' : v.role || '' : '') + (v && hues.has(v.role === 'leader' ? n : v.leader) ? ' hue' + hues.get(v.role === 'leader' ? n : v.leader) : '');
    const line = (tag, cls, text) => { const e = document.createElement(tag); e.className = cls; e.textContent = text; card.append(e); };
    line('h2', '', n);
    const role = v && v.role || 'not observed';
    line('p', 'role', !v || !v.state ? role : still(v) ? `${v.state}; it was ${role}` : v.state);
    line('p', 'follows', v && v.role !== 'leader' && v.leader ? 'follows ' + v.leader : '');
    line('p', 'term', v && v.term ? 'term ' + v.term : '');
    if (got) line('p', 'follows', `last heard ${got.from}: ${got.words}`);
    return card;
  });
  $('knew').replaceChildren(...cards);
}

const move = (a, s) => { span = Math.max(1, Math.min(60000, s)); from = Math.max(0, Math.min(data ? data.end / 1e6 : a, a)); load(); };
form.addEventListener('submit', e => { e.preventDefault(); const a = +form.elements.at.value, s = +form.elements.span.value; if (a >= 0 && s > 0) move(a, s); });
$('earlier').addEventListener('click', () => move(from - span / 2, span));
$('later').addEventListener('click', () => move(from + span / 2, span));
$('closer').addEventListener('click', () => move(from + span / 4, span / 2));
$('wider').addEventListener('click', () => move(from - span / 2, span * 2));
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|SELECT|TEXTAREA/.test(e.target.tagName)) return;
  const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: steps.length - 1}[e.key];
  if (to !== undefined) { step(to); e.preventDefault(); }
});
svg.addEventListener('click', e => {
  const g = e.target.closest('[data-m],[data-o]');
  if (!g) return;
  step(g.dataset.m !== undefined ? steps.findIndex(s => s.m === data.messages[g.dataset.m]) : steps.findIndex(s => s.o === data.moments[g.dataset.o]));
});
new ResizeObserver(() => { if (data) { const was = at; draw(); step(was); } }).observe(svg.parentNode);
load(true);
})();
