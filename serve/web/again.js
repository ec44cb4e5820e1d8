// A page that is not whole yet, or of something under way: it is asked for again every two seconds, where it was scrolled to.
(() => {
'use strict';
let last = ''; // what was put in place
const look = async () => {
  try {
    const answer = await fetch(location.href), over = answer.status === 404; // what was under way is no more
    const text = await answer.text(), other = new DOMParser().parseFromString(text, 'text/html');
    const was = document.getElementById('content'), now = other.getElementById('content');
    if (now && (over || answer.ok && text !== last && !was.contains(document.activeElement))) {
      last = text;
      was.replaceWith(document.adoptNode(now));
      document.dispatchEvent(new Event('replaced'));
    }
    if (over || answer.ok && !other.querySelector('script[src$="again.js"]')) return;
  } catch { /* the server is away: it may come back */ }
  setTimeout(look, 2000);
};
setTimeout(look, 2000);
})();
