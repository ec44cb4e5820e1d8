"""A leader election by a lock on storage that all share: whoever has the lock leads.

With `flock` the kernel keeps the lock for as long as its holder's process lives. With `lease` a file says who leads, until when; whoever
finds that over takes it. A holder looks at the time before it says that it leads, and not once more before what it does as the leader.
"""

import fcntl
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, by, lease = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
folder = sys.argv[5]
term, until = 0, 0.0  # of this process's leadership


def write(path, text):
    """Writes a file as a whole, or not at all."""
    with open(path + name, "w") as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    os.rename(path + name, path)


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except FileNotFoundError:
        return ""


def begin(ends):
    """Begins a leadership, in a term that nobody has had. Whoever calls it has the lock."""
    global term, until
    number = int(read(folder + "/term") or 0) + 1
    write(folder + "/term", str(number))
    term, until = number, ends
    print(f"{name} leads in term {number}", flush=True)


def by_flock(lock):
    fcntl.flock(lock, fcntl.LOCK_EX)
    begin(float("inf"))


def by_lease(lock):
    global until
    while True:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ends = time.time() + lease
        holder, _, over = read(folder + "/lease").partition(" ")
        if holder == name and time.time() < until:
            write(folder + "/lease", f"{name} {ends}")
            until = ends
        elif not holder or time.time() >= float(over):
            write(folder + "/lease", f"{name} {ends}")
            begin(ends)
        fcntl.flock(lock, fcntl.LOCK_UN)
        time.sleep(lease / 5)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        leads = time.time() < until
        body = json.dumps({"role": "leader" if leads else "follower", "term": term if leads else None}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


way, lock = {"flock": by_flock, "lease": by_lease}[by], open(folder + "/lock", "w")  # which is open, and locked, to the process's end
threading.Thread(target=way, args=(lock,), daemon=True).start()
ThreadingHTTPServer(("0.0.0.0", port), Handler).serve_forever()
