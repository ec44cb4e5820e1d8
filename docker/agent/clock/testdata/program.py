"""A program that the tests skew: it tells its clocks, and waits in each way that Python has."""

import sys
import threading
import time

ticks = 0


def tick():
    global ticks
    while True:
        time.sleep(0.001)
        ticks += 1


def watch():
    last = time.monotonic_ns()
    while True:
        now = time.monotonic_ns()
        if now < last:
            print("the monotonic clock went back by", last - now, flush=True)
            sys.exit(1)
        last = now
        time.sleep(0.0005)


def wait(how, seconds):
    if how == "sleep":
        time.sleep(seconds)
    elif how == "condition":
        condition = threading.Condition()
        with condition:
            condition.wait(seconds)
    elif how == "timer":
        done = threading.Event()
        threading.Timer(seconds, done.set).start()
        done.wait()


threading.Thread(target=tick, daemon=True).start()
threading.Thread(target=watch, daemon=True).start()
print(0, 0, flush=True)  # here it is
for line in sys.stdin:
    what, *rest = line.split()
    if what == "read":
        print(time.time_ns(), time.monotonic_ns(), flush=True)
    elif what == "ticks":
        print(ticks, 0, flush=True)
    else:
        wait(what, int(rest[0]) / 1000)
        print(0, 0, flush=True)
