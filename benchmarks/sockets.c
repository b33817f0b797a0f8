/* Round trips over a pair of sockets between two processes: prints the median in ns.
 *
 *     sockets unix|udp BYTES SECONDS CPU CPU [epoll]
 *
 * The sockets are those of socketpair(), or of UDP at the loopback address.
 * Each process is pinned to one of the processors and calls recv() until there is something; with
 * epoll it sleeps in epoll_wait() before each call. The first half of the time is a warm-up. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 65536, MOST_SAMPLES = 1 << 24 };

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void pin(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        fail("sockets: sched_setaffinity");
}

/* The epoll descriptor in which this process sleeps; -1 if it polls. */
static int sleeping = -1;

static void sleep_in_epoll(int from) {
    struct epoll_event event = {.events = EPOLLIN};
    sleeping = epoll_create1(0);
    if (sleeping < 0 || epoll_ctl(sleeping, EPOLL_CTL_ADD, from, &event) != 0)
        fail("sockets: epoll");
}

/* One message; 0 at the end of the peer. */
static ssize_t take(int from, char *bytes) {
    struct epoll_event event;
    for (;;) {
        if (sleeping >= 0 && epoll_wait(sleeping, &event, 1, -1) < 0 && errno != EINTR)
            fail("sockets: epoll_wait");
        ssize_t got = recv(from, bytes, MOST_BYTES, MSG_DONTWAIT);
        if (got >= 0)
            return got;
        if (errno != EAGAIN)
            fail("sockets: recv");
    }
}

static void give(int to, const char *bytes, size_t count) {
    if (send(to, bytes, count, 0) != (ssize_t)count)
        fail("sockets: send");
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Two sockets that are connected to each other, and keep the boundaries of messages. */
static void make_pair(int udp, int *pair) {
    if (!udp) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0)
            fail("sockets: socketpair");
        return;
    }
    struct sockaddr_in names[2];
    for (int i = 0; i < 2; i++) {
        socklen_t length = sizeof names[i];
        memset(&names[i], 0, sizeof names[i]);
        names[i].sin_family = AF_INET;
        names[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        pair[i] = socket(AF_INET, SOCK_DGRAM, 0);
        if (pair[i] < 0 || bind(pair[i], (struct sockaddr *)&names[i], length) != 0 ||
            getsockname(pair[i], (struct sockaddr *)&names[i], &length) != 0)
            fail("sockets: socket");
    }
    for (int i = 0; i < 2; i++)
        if (connect(pair[i], (struct sockaddr *)&names[1 - i], sizeof names[1 - i]) != 0)
            fail("sockets: connect");
}

int main(int argc, char **argv) {
    static char bytes[MOST_BYTES];
    int pair[2];
    int udp = argc > 1 && strcmp(argv[1], "udp") == 0;
    int asleep = argc == 7 && strcmp(argv[6], "epoll") == 0;
    if ((argc != 6 && !asleep) || (!udp && strcmp(argv[1], "unix") != 0)) {
        fputs("usage: sockets unix|udp BYTES SECONDS CPU CPU [epoll]\n", stderr);
        return 2;
    }
    size_t count = strtoull(argv[2], NULL, 10);
    int64_t nanos = (int64_t)(strtod(argv[3], NULL) * 1e9);
    if (count == 0 || count > MOST_BYTES || nanos <= 0) {
        fputs("sockets: a value is illegal\n", stderr);
        return 2;
    }
    make_pair(udp, pair);
    pid_t peer = fork();
    if (peer < 0)
        fail("sockets: fork");
    if (peer == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        pin(atoi(argv[5]));
        if (asleep)
            sleep_in_epoll(pair[1]);
        for (ssize_t got; (got = take(pair[1], bytes)) > 0;)
            give(pair[1], bytes, (size_t)got);
        return 0;
    }
    close(pair[1]);
    pin(atoi(argv[4]));
    if (asleep)
        sleep_in_epoll(pair[0]);
    int64_t *samples = malloc(MOST_SAMPLES * sizeof *samples);
    if (samples == NULL)
        fail("sockets: malloc");
    memset(samples, 0, MOST_SAMPLES * sizeof *samples);
    size_t taken = 0;
    int64_t begin = now();
    int64_t last = begin;
    while (last - begin < nanos && taken < MOST_SAMPLES) {
        int64_t sent = now();
        give(pair[0], bytes, count);
        if (take(pair[0], bytes) != (ssize_t)count) {
            fputs("sockets: the peer has ended\n", stderr);
            return 1;
        }
        last = now();
        if (last - begin > nanos / 2)
            samples[taken++] = last - sent;
    }
    kill(peer, SIGKILL); /* a socket of UDP does not tell its end */
    waitpid(peer, NULL, 0);
    if (taken == 0) {
        fputs("sockets: no round trip\n", stderr);
        return 1;
    }
    qsort(samples, taken, sizeof *samples, by_value);
    printf("%lld\n", (long long)samples[taken / 2]);
    return 0;
}
