// Any picture of a page as a file: as SVG that needs no style sheet, or as PNG at twice its size.
(() => {
'use strict';
const looks = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-opacity', 'paint-order', 'opacity', 'vector-effect',
  'font-family', 'font-size', 'font-weight', 'letter-spacing', 'text-anchor', 'text-transform', 'display'];

// alone returns a picture with its looks in itself.
function alone(svg) {
  const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll('*')], to = [copy, ...copy.querySelectorAll('*')];
  const plain = getComputedStyle(document.body);
  from.forEach((e, i) => {
    const s = getComputedStyle(e), above = i ? getComputedStyle(e.parentNode) : plain;
    for (const l of looks) if (s.getPropertyValue(l) !== above.getPropertyValue(l) || l === 'opacity' || l === 'display') to[i].setAttribute(l, s.getPropertyValue(l));
    to[i].removeAttribute('class');
  });
  const [x, y, w, h] = svg.getAttribute('viewBox').split(/[ ,]+/).map(Number);
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [k, v] of Object.entries({x, y, width: w, height: h, fill: getComputedStyle(svg.closest('.panel') || document.body).backgroundColor})) ground.setAttribute(k, v);
  copy.prepend(ground);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', w);
  copy.setAttribute('height', h);
  return {text: new XMLSerializer().serializeToString(copy), w, h};
}

// map returns a table that is a map as a picture, square by square as it is shown.
function map(table) {
  const all = table.getBoundingClientRect(), parts = [];
  let w = Math.ceil(all.width), h = Math.ceil(all.height);
  const add = (name, attributes, text) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text) e.textContent = text;
    parts.push(e);
  };
  for (const e of table.querySelectorAll('th, td > a')) {
    const word = e.querySelector('span') || e, r = word.getBoundingClientRect(), s = getComputedStyle(word);
    const x = r.x - all.x, y = r.y - all.y, text = word.textContent.trim(), square = e.tagName === 'A', up = s.writingMode.startsWith('vertical');
    if (square) add('rect', {x, y, width: r.width, height: r.height, rx: 4, fill: s.backgroundColor, stroke: s.backgroundImage === 'none' ? 'none' : s.color, 'stroke-dasharray': '3 2'});
    const at = {fill: s.color, 'font-family': s.fontFamily, 'font-size': s.fontSize, 'font-weight': s.fontWeight};
    if (up) add('text', {...at, transform: `translate(${x + r.width / 2 + 4} ${y + r.height}) rotate(-90)`}, text);
    else if (square) add('text', {...at, x: x + r.width / 2, y: y + r.height / 2 + 4, 'text-anchor': 'middle'}, text);
    else add('text', {...at, x: x + parseFloat(s.paddingLeft), y: y + r.height / 2 + 4}, text);
  }
  // What the squares mean comes below, as on the page.
  const legend = table.closest('.panel').querySelector('.legend'), from = legend && legend.getBoundingClientRect();
  for (const e of legend ? legend.querySelectorAll('li, .swatch') : []) {
    const r = e.getBoundingClientRect(), s = getComputedStyle(e), x = r.x - from.x, y = h + r.y - from.y, middle = y + r.height / 2 + 4;
    const look = {y: middle, fill: s.color, 'font-family': s.fontFamily, 'font-size': s.fontSize};
    if (e.tagName === 'LI') {
      const words = document.createRange();
      words.selectNodeContents(e.lastChild);
      add('text', {...look, x: words.getBoundingClientRect().x - from.x}, e.lastChild.textContent.trim());
      w = Math.max(w, Math.ceil(x + r.width + 12));
    } else {
      add('rect', {x, y, width: r.width, height: r.height, rx: 4, fill: s.backgroundColor, stroke: s.backgroundImage === 'none' ? 'none' : s.color, 'stroke-dasharray': '3 2'});
      add('text', {...look, x: x + r.width / 2, 'text-anchor': 'middle'}, e.textContent);
    }
  }
  if (legend) h += Math.ceil(from.height) + 8;
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [k, v] of Object.entries({width: w, height: h, fill: getComputedStyle(table.closest('.panel')).backgroundColor})) ground.setAttribute(k, v);
  parts.unshift(ground);
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  for (const [k, v] of Object.entries({xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${w} ${h}`, width: w, height: h})) svg.setAttribute(k, v);
  svg.append(...parts);
  return {text: new XMLSerializer().serializeToString(svg), w, h};
}

function keep(blob, name) {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(blob);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

async function save(shown, kind) {
  const p = shown.tagName === 'TABLE' ? map(shown) : alone(shown), name = (document.title.split(' – ')[0].replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '') || 'picture') + '.' + kind;
  if (kind === 'svg') { keep(new Blob([p.text], {type: 'image/svg+xml'}), name); return; }
  const image = new Image();
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(p.text);
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), {width: 2 * p.w, height: 2 * p.h});
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob(b => { if (b) keep(b, name); }, 'image/png');
}

function offer() {
  for (const shown of document.querySelectorAll('.panel svg[role=img]:not(#rates), .panel table[data-grid]')) {
    const panel = shown.closest('.panel'), head = panel.querySelector('header') || panel;
    if (head.querySelector('.save')) continue;
    const both = document.createElement('span');
    both.className = 'save';
    for (const kind of ['svg', 'png']) {
      const b = document.createElement('button');
      b.type = 'button';
      b.textContent = kind.toUpperCase();
      b.title = 'save the picture as ' + b.textContent;
      b.addEventListener('click', () => save(shown, kind));
      both.append(b);
    }
    head.append(both);
  }
}
offer();
document.addEventListener('replaced', offer);
})();
