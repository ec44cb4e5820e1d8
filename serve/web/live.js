// A run while it happens. Ops come as they are written; what they change is kept in order of time, so that any instant can be looked
// at again. What systems under test have said is only ever text here.
(() => {
'use strict';
const $ = id => document.getElementById(id);
const page = document.querySelector('.live-page');
const names = JSON.parse($('names').textContent) || [];
const place = new Map(names.map((n, i) => [n, i]));
const cards = [...document.querySelectorAll('.node')], picture = $('picture'), scrub = $('scrub');

const changes = []; // {at, apply(state), tell}, in order
const perSecond = [];
let last = 0, now = 0, live = true, playing = true, over = null, ops = 0, drawn = 0, dirty = true, painted = -1;

// State: what is known of the cluster at one instant.
const fresh = () => ({at: 0, next: 0, nodes: names.map(() => ({role: '', term: 0, leader: '', process: 'up'})),
  links: new Map(), faults: new Map(), colours: new Map()});
let state = fresh();

function advance(t) {
  if (t < state.at) state = fresh();
  while (state.next < changes.length && changes[state.next].at <= t) changes[state.next++].apply(state);
  state.at = t;
}

const words = l => {
  const w = [];
  if (l.cut) w.push('cut');
  if (l.reset) w.push('reset');
  if (l.loss) w.push(`${+(100 * l.loss).toPrecision(3)} % lost`);
  if (l.delay || l.jitter) w.push(`${(l.delay || 0) / 1e6} ms late`);
  if (l.duplicate) w.push('duplicated');
  if (l.reorder) w.push('reordered');
  if (l.rate) w.push('limited');
  return w.join(', ');
};

const unseen = {role: '', term: 0, leader: ''};
let patience = Infinity; // how long what a node has said holds without being confirmed

// keep takes what an op changes. An answer that was asked for before the node spoke by itself, or its process ended, is overtaken.
const views = new Map(), seen = new Map(), spoken = new Map(), asked = new Map();
function keep(op) {
  const at = op.time / 1e6, n = place.get(op.node);
  last = Math.max(last, at);
  for (const [silent, t] of seen) {
    if (at - t <= patience) continue;
    seen.delete(silent);
    views.delete(silent);
    changes.push({at, apply: s => { Object.assign(s.nodes[silent], unseen); }, tell: ''});
  }
  const second = Math.floor(at / 1000);
  if (op.type !== 'invoke' && second < 1e6) perSecond[second] = (perSecond[second] || 0) + 1;
  ops++;
  const change = (apply, tell) => changes.push({at, apply, tell});
  if (op.f === 'begin' && op.value && op.value.bounds && op.value.bounds.poll && !op.value.standing) patience = 4 * op.value.bounds.poll / 1e6;
  if (op.f === 'observe' && op.type === 'invoke') asked.set(op.process, at);
  if ((op.f === 'observe' || op.f === 'announce') && op.type === 'ok' && op.value && n !== undefined) {
    const {role, term = 0, leader = ''} = op.value, was = views.get(n), is = role + ' ' + term + ' ' + leader;
    if (role === 'leader' && op.value.torn) return; // put together from several answers, it is no claim
    if (op.f === 'announce') spoken.set(n, at);
    else if (was !== is && spoken.get(n) > asked.get(op.process)) return;
    seen.set(n, at);
    if (was === is) return;
    views.set(n, is);
    const tell = role === 'leader' ? `${op.node} leads${term ? ' in term ' + term : ''}` : role === 'candidate' ? `${op.node} is a candidate${term ? ' in term ' + term : ''}` : '';
    change(s => {
      Object.assign(s.nodes[n], {role, term, leader});
      if (role === 'leader' && !s.colours.has(n)) s.colours.set(n, s.colours.size % 8);
    }, tell);
  } else if (op.f === 'exit' && n !== undefined) {
    turns(n, at, 'exited');
    change(s => { Object.assign(s.nodes[n], unseen, {process: 'exited'}); }, `${op.node} ended by itself`);
  } else if (op.process === 'nemesis' && op.value && op.type !== 'invoke' && op.type !== 'fail') {
    const v = op.value, title = [v.name, ...(v.nodes || [])].join(' ');
    for (const p of v.procs || []) turns(place.get(p.node), at, p.state);
    change(s => {
      if (op.f === 'inject') s.faults.set(v.id, title);
      if (op.f === 'heal') s.faults.delete(v.id);
      for (const l of v.links || []) s.links.set(place.get(l.from) + '-' + place.get(l.to), words(l));
      for (const p of v.procs || []) if (place.has(p.node)) Object.assign(s.nodes[place.get(p.node)], {process: p.state}, p.state === 'up' ? {} : unseen);
    }, (op.f === 'inject' ? 'begins: ' : op.f === 'heal' ? 'healed: ' : 'turns: ') + title);
  }
}

// turns is called where a node's process gets into another state: what it has said holds no more.
function turns(n, at, process) {
  views.delete(n);
  seen.delete(n);
  if (process !== 'up') spoken.set(n, at);
}

// speak tells whether a new status is read out: not one that changes with every frame or op.
const speak = on => $('status').parentElement.setAttribute('aria-live', on ? 'polite' : 'off');

const text = (e, t) => { if (e.textContent !== t) e.textContent = t; };
const seconds = t => (t / 1000).toFixed(3) + ' s';

function draw() {
  advance(now);
  cards.forEach((card, i) => {
    const n = state.nodes[i], away = n.process !== 'up', role = away ? n.process : n.role || 'not observed';
    const led = names.indexOf(n.leader), colour = n.role === 'leader' ? state.colours.get(i) : state.colours.get(led);
    card.className = 'node ' + (away ? 'away' : n.role) + (colour === undefined || away ? '' : ` hue${colour}`);
    text(card.children[1], role);
    text(card.children[2], !away && n.role !== 'leader' && n.leader ? 'follows ' + n.leader : '');
    text(card.children[3], n.term && !away ? 'term ' + n.term : '');
  });
  drawLeaders();
  for (const td of document.querySelectorAll('[data-link]:not(.self)')) {
    const w = state.links.get(td.dataset.link) || '';
    td.className = w === '' ? '' : /cut|reset/.test(w) ? 'cut' : 'ill';
    text(td, w === '' ? '' : w === 'cut' ? '✕' : '~');
    td.title = w;
  }
  const faults = [...state.faults.values()];
  const list = $('faults'), want = faults.length ? faults : ['no fault'];
  if (list.dataset.is !== want.join('\n')) {
    list.dataset.is = want.join('\n');
    list.replaceChildren(...want.map(f => Object.assign(document.createElement('li'), {textContent: f, className: faults.length ? '' : 'soft'})));
  }
  drawRates();
  drawTold();
  scrub.max = Math.ceil(last);
  scrub.value = Math.round(now);
  scrub.setAttribute('aria-valuetext', seconds(now));
  text($('clock'), seconds(now));
  text($('golive'), over === null ? 'go live' : 'to the end');
  $('golive').disabled = live;
  text($('play'), live && over !== null ? 'replay' : playing ? 'pause' : 'play');
  $('pulse').hidden = over !== null || !live;
  speak(over !== null && (live || !playing));
  text($('status'), over !== null ? (live ? `over: ${over}` : `over: ${over}; at ${seconds(now)} of ${seconds(last)}`) :
    live ? `live, ${ops} ops` : `${((last - now) / 1000).toFixed(1)} s behind`);
  if (!live) picture.dispatchEvent(new CustomEvent('instant', {detail: now}));
}

// drawLeaders says in words how many lead.
function drawLeaders() {
  const lead = names.map((name, i) => ({name, ...state.nodes[i]})).filter(n => n.role === 'leader' && n.process === 'up')
    .map(n => n.name + (n.term ? ` (term ${n.term})` : ''));
  const count = ['No leader', 'One leader: ', 'Two leaders: '][lead.length] || `${lead.length} leaders: `;
  $('leaders').classList.toggle('many', lead.length > 1);
  text($('leaders'), lead.length > 1 ? count + lead.slice(0, -1).join(', ') + ' and ' + lead.at(-1) : count + lead.join(''));
}

function drawRates() {
  const to = Math.floor(now / 1000), from = Math.max(0, to - 59);
  const shown = [];
  for (let s = from; s <= to; s++) shown.push(perSecond[s] || 0);
  const key = shown.join();
  const svg = $('rates');
  if (svg.dataset.is === key) return;
  svg.dataset.is = key;
  const top = Math.max(10, ...shown);
  let d = '';
  shown.forEach((n, i) => { const h = 60 * n / top; d += `M${i * 5} 64h4v${-h}h-4z`; });
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', d);
  svg.replaceChildren(path);
  text($('rate'), `${shown.length > 1 ? shown[shown.length - 2] : shown[0]} in the last whole second, ${top} at most`);
}

function drawTold() {
  const told = [];
  for (let i = state.next - 1; i >= 0 && told.length < 12; i--) if (changes[i].tell) told.push(changes[i]);
  const list = $('told'), key = told.length ? told[0].at + told[0].tell + told.length : '';
  if (list.dataset.is === key) return;
  list.dataset.is = key;
  list.replaceChildren(...told.map(c => {
    const li = document.createElement('li'), t = document.createElement('time');
    t.textContent = seconds(c.at);
    li.append(t, ' ' + c.tell);
    return li;
  }));
}

// The picture is painted by the server, as that of the report. The longer it takes, the rarer it is asked for.
async function paint() {
  if (painted !== ops && ops > 0) {
    const begun = performance.now(), had = ops, done = over;
    try {
      const answer = await fetch(page.dataset.api + 'picture');
      if (answer.ok) {
        picture.dispatchEvent(new CustomEvent('picture', {detail: await answer.json()}));
        if (done === over) painted = had;
        drawn++;
        dirty = true;
      } else if (answer.status === 422 && done !== null) painted = had; // as it is, it cannot be drawn
    } catch { /* the server is away; the next time does */ }
    setTimeout(paint, Math.max(300, 4 * (performance.now() - begun)));
  } else setTimeout(paint, 200);
}

// Frames. Live is what has come last; a run that was over before anybody came is played from its beginning.
let before = performance.now();
function frame(t) {
  const passed = Math.min(100, t - before);
  before = t;
  if (live) {
    if (now !== last) { now = last; dirty = true; }
  } else if (playing && now < last) {
    now = Math.min(last, now + passed);
    dirty = true;
    if (now >= last && over !== null) playing = false;
  }
  if (dirty) { dirty = false; draw(); }
  requestAnimationFrame(frame);
}

const go = t => { live = false; now = Math.max(0, Math.min(last, t)); dirty = true; };
const goLive = () => {
  live = true; playing = true; dirty = true;
  picture.dispatchEvent(new CustomEvent('instant', {detail: null}));
};
const toggle = () => {
  if (live) { live = false; playing = over !== null; if (playing) now = 0; }
  else { playing = !playing; if (playing && now >= last) now = over !== null ? 0 : now; }
  dirty = true;
};
scrub.addEventListener('input', () => { playing = false; go(+scrub.value); });
$('play').addEventListener('click', toggle);
$('golive').addEventListener('click', goLive);
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|SELECT|TEXTAREA|BUTTON/.test(e.target.tagName) && e.key === ' ') return;
  const next = d => {
    playing = false;
    const ats = changes.filter(c => c.tell).map(c => c.at);
    const to = d > 0 ? ats.find(a => a > now + 0.0005) : ats.findLast(a => a < now - 0.0005);
    if (to !== undefined) go(to);
  };
  const keys = {' ': toggle, End: goLive, '.': () => next(1), ',': () => next(-1)};
  if (keys[e.key]) { keys[e.key](); e.preventDefault(); }
});

// ends takes the state that the run has ended in, or null where it goes on.
function ends(state) {
  if (state === over) return;
  over = state;
  painted = -1;
  dirty = true;
  text($('kind'), over === null ? 'Live' : 'Replay');
  document.title = document.title.replace(/^\w+/, $('kind').textContent);
}

// A source connects again by itself where the connection was lost, and never where it was answered with another status than 200, as by
// a proxy whose server is away: then another takes its place.
let position = ''; // what the next event follows
function connect() {
  const source = new EventSource(page.dataset.api + 'events' + (position && '?from=' + position));
  source.addEventListener('ops', e => {
    position = e.lastEventId;
    ends(null);
    for (const op of JSON.parse(e.data).ops || []) keep(op);
    dirty = true;
  });
  source.addEventListener('end', e => {
    source.close();
    ends(JSON.parse(e.data).state);
    if (over === 'cut short') setTimeout(connect, 5000); // it may go on all the same
  });
  source.addEventListener('error', () => {
    speak(true);
    text($('status'), 'the server is away; trying again');
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 1000);
  });
}
connect();
requestAnimationFrame(frame);
paint();
})();
