"""A leader election among Python processes: whoever holds the lease in a majority of the members' memories leads.

Each member is a voter for all the others. A candidate asks every member for its vote until a time; a member gives it to one
candidate at a time, and to nobody else before that time is over. By the wall clock, which may jump, that is wrong.
"""

import json
import random
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, peers, lease = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(","), float(sys.argv[4])
now = {"monotonic": time.monotonic, "wall": time.time}[sys.argv[5]]
lock = threading.Lock()
voted, until = None, now() + lease  # a member that was killed may have voted: it waits for a lease
leads = 0.0  # until when this member leads


def vote(candidate):
    """Gives this member's vote, or says whose it is."""
    global voted, until
    with lock:
        if voted == candidate or now() >= until:
            voted, until = candidate, now() + lease
            return True
        return False


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/vote?"):
            answer = {"vote": vote(self.path.removeprefix("/vote?"))}
        else:
            with lock:
                mine = now() < leads
                answer = {"role": "leader" if mine else "follower", "holder": voted if now() < until else None}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def ask(peer, votes):
    try:
        with urllib.request.urlopen(f"http://{peer}/vote?{name}", timeout=lease / 4) as r:
            votes.append(json.load(r)["vote"])
    except OSError:
        pass


def campaign():
    global leads
    while True:
        began, votes = now(), [vote(name)]
        asking = [threading.Thread(target=ask, args=(p, votes)) for p in peers]
        for t in asking:
            t.start()
        for t in asking:
            t.join()
        won = 2 * sum(votes) > len(peers) + 1
        with lock:
            if won:
                if now() >= leads:
                    print(f"{name} leads", flush=True)
                leads = began + 0.8 * lease  # it ends before any vote does, by clocks that differ by less than a fifth
        time.sleep(lease / 5 if won else lease * random.uniform(0.5, 2))


threading.Thread(target=campaign, daemon=True).start()
ThreadingHTTPServer(("0.0.0.0", port), Handler).serve_forever()
