import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** A program that the tests skew: it tells its clocks, and watches that they keep their promises. */
class Program {
    static final AtomicLong ticks = new AtomicLong();
    static final ScheduledExecutorService timers = Executors.newScheduledThreadPool(1, task -> {
        Thread t = new Thread(task);
        t.setDaemon(true);
        return t;
    });

    public static void main(String[] args) throws Exception {
        Thread watch = new Thread(() -> {
            for (long last = System.nanoTime();;) {
                long now = System.nanoTime();
                if (now < last) {
                    System.out.println("the monotonic clock went back by " + (last - now));
                    Runtime.getRuntime().halt(1);
                }
                last = now;
                LockSupport.parkNanos(50_000);
            }
        });
        watch.setDaemon(true);
        watch.start();
        Thread tick = new Thread(() -> {
            for (;;) {
                try {
                    Thread.sleep(1);
                } catch (InterruptedException e) {
                    return;
                }
                ticks.incrementAndGet();
            }
        });
        tick.setDaemon(true);
        tick.start();
        System.out.println("0 0"); // here it is
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            if (line.contains(" ")) {
                String[] words = line.split(" ");
                await(words[0], Long.parseLong(words[1]));
                System.out.println("0 0");
                continue;
            }
            switch (line) {
                case "read":
                    Instant now = Instant.now();
                    System.out.println((now.getEpochSecond() * 1_000_000_000L + now.getNano()) + " " + System.nanoTime());
                    break;
                case "ticks":
                    System.out.println(ticks.get() + " 0");
                    break;
                case "cost":
                    long sum = 0, began = 0;
                    for (int round = 0; round < 3; round++) { // the first rounds are for the compiler
                        began = System.nanoTime();
                        for (int i = 0; i < 1_000_000; i++) sum += System.currentTimeMillis();
                    }
                    System.out.println((System.nanoTime() - began) / 1000 + " " + (sum & 1));
                    break;
            }
        }
    }

    /** Waits in each way that there is. */
    static void await(String how, long ms) throws Exception {
        switch (how) {
            case "sleep":
                Thread.sleep(ms);
                break;
            case "condition":
                ReentrantLock lock = new ReentrantLock();
                lock.lock();
                lock.newCondition().await(ms, TimeUnit.MILLISECONDS);
                break;
            case "timer":
                CountDownLatch done = new CountDownLatch(1);
                timers.schedule(done::countDown, ms, TimeUnit.MILLISECONDS);
                done.await();
                break;
        }
    }
}
