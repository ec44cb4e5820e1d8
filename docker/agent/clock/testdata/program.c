// A program that the tests skew: it tells its clocks, and watches that they keep their promises.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long nanos(clockid_t id) {
	struct timespec t;
	if (clock_gettime(id, &t) != 0)
		exit(2);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// All clocks that tell how much time has passed must agree, and never go back.
static void *watch(void *arg) {
	clockid_t id = (clockid_t)(long)arg;
	for (long long last = 0, now;; last = now) {
		now = nanos(id);
		if (now < last) {
			printf("clock %d went back by %lld ns\n", id, last - now);
			fflush(stdout);
			_exit(1);
		}
		struct timespec pause = {0, 20000};
		if (id == CLOCK_MONOTONIC)
			nanosleep(&pause, NULL);
		else
			usleep(500);
	}
}

static volatile long ticks;

static void *tick(void *arg) {
	for (;;) {
		usleep(1000);
		ticks++;
	}
}

static struct timespec in(clockid_t id, long ms) {
	long long end = nanos(id) + ms * 1000000LL;
	struct timespec t = {end / 1000000000LL, end % 1000000000LL};
	return t;
}

static void wait_on(clockid_t id, long ms) {
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_condattr_t of;
	pthread_cond_t never;
	pthread_condattr_init(&of);
	pthread_condattr_setclock(&of, id);
	pthread_cond_init(&never, &of);
	struct timespec end = in(id, ms);
	pthread_mutex_lock(&m);
	while (pthread_cond_timedwait(&never, &m, &end) == 0)
		;
	pthread_mutex_unlock(&m);
}

// Waits in each way that there is, of which some tell the kernel how long, and some until when.
static void wait_for(const char *how, long ms) {
	struct timespec span = {ms / 1000, ms % 1000 * 1000000};
	if (!strcmp(how, "sleep"))
		nanosleep(&span, NULL);
	else if (!strcmp(how, "condition"))
		wait_on(CLOCK_MONOTONIC, ms);
	else if (!strcmp(how, "condition-of-day"))
		wait_on(CLOCK_REALTIME, ms);
	else if (!strcmp(how, "sleep-until")) {
		struct timespec end = in(CLOCK_MONOTONIC, ms);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
	} else if (!strcmp(how, "timer")) {
		int timer = timerfd_create(CLOCK_MONOTONIC, 0);
		struct itimerspec at = {.it_value = in(CLOCK_MONOTONIC, ms)};
		unsigned long long times;
		timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
		if (read(timer, &times, sizeof times) < 0)
			exit(3);
		close(timer);
	}
}

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, watch, (void *)CLOCK_MONOTONIC);
	pthread_create(&t, NULL, watch, (void *)CLOCK_MONOTONIC_COARSE);
	pthread_create(&t, NULL, watch, (void *)CLOCK_BOOTTIME);
	pthread_create(&t, NULL, tick, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("0 0\n"); // here it is
	for (char line[100]; fgets(line, sizeof line, stdin);) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "read")) {
			long long wall = nanos(CLOCK_REALTIME);
			printf("%lld %lld\n", wall, nanos(CLOCK_MONOTONIC));
		} else if (!strcmp(line, "seconds")) { // the other ways to ask for the time
			struct timeval v;
			gettimeofday(&v, NULL);
			printf("%lld %lld\n", v.tv_sec * 1000000000LL + v.tv_usec * 1000LL, (long long)time(NULL) * 1000000000LL);
		} else if (!strcmp(line, "coarse")) {
			long long wall = nanos(CLOCK_REALTIME_COARSE);
			printf("%lld %lld\n", wall, nanos(CLOCK_MONOTONIC_COARSE));
		} else if (!strcmp(line, "ticks")) {
			printf("%ld 0\n", ticks);
		} else if (!strcmp(line, "cost")) {
			long long began = nanos(CLOCK_MONOTONIC);
			for (int i = 0; i < 1000000; i++)
				nanos(CLOCK_REALTIME);
			printf("%lld 0\n", (nanos(CLOCK_MONOTONIC) - began) / 1000);
		} else if (!strcmp(line, "fork")) { // let a child answer all that follows
			fflush(stdout);
			pid_t child = fork();
			if (child == 0) {
				printf("%d 0\n", getpid());
				continue;
			}
			int status;
			waitpid(child, &status, 0);
			return WEXITSTATUS(status);
		} else if (strchr(line, ' ')) {
			char *ms = strchr(line, ' ');
			*ms = 0;
			wait_for(line, atol(ms + 1));
			printf("0 0\n");
		} else if (!strcmp(line, "vfork")) { // be unable to stop until the child is told to end
			if (vfork() == 0) {
				char text[40];
				if (write(1, text, snprintf(text, sizeof text, "%d 0\n", getpid())) > 0)
					sleep(120);
				_exit(0);
			}
		}
	}
	return 0;
}
