/* Round trip of a cache line between two threads, each pinned to a processor: prints the median in
 * ns.
 *
 *     line-time PROCESSOR PROCESSOR
 *
 * Takes 50 ms. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE = 128, ROUND_TRIPS = 500, MAX_SAMPLES = 10000, NANOS = 50000000 };

static _Alignas(LINE) atomic_long ping;
static _Alignas(LINE) atomic_long pong;
static _Alignas(LINE) atomic_bool stopped;

static void pin(long processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    if (error) {
        fprintf(stderr, "line-time: not pinned: processor=%ld, error=%s\n", processor, strerror(error));
        exit(1);
    }
}

static void *answer(void *processor) {
    pin(*(long *)processor);
    long seen = 0;
    while (!atomic_load_explicit(&stopped, memory_order_relaxed)) {
        if (atomic_load_explicit(&ping, memory_order_acquire) == seen + 1) {
            atomic_store_explicit(&pong, ++seen, memory_order_release);
        }
    }
    return NULL;
}

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static int compared(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static long processor_of(const char *text) {
    char *end;
    errno = 0;
    long processor = strtol(text, &end, 10);
    if (errno || *end || end == text || processor < 0 || processor >= CPU_SETSIZE) {
        fprintf(stderr, "line-time: not a processor: value=%s\n", text);
        exit(2);
    }
    return processor;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "line-time: two processors expected: arguments=%d\n", count - 1);
        return 2;
    }
    long here = processor_of(arguments[1]);
    long there = processor_of(arguments[2]);
    static double samples[MAX_SAMPLES];
    int taken = 0;
    long sent = 0;
    pthread_t other;
    pin(here);
    if (pthread_create(&other, NULL, answer, &there)) {
        perror("line-time: no thread");
        return 1;
    }
    for (long begin = now(), end = begin + NANOS; begin < end && taken < MAX_SAMPLES; begin = now()) {
        for (int i = 0; i < ROUND_TRIPS; i++) {
            atomic_store_explicit(&ping, ++sent, memory_order_release);
            while (atomic_load_explicit(&pong, memory_order_acquire) != sent)
                ;
        }
        samples[taken++] = (double)(now() - begin) / ROUND_TRIPS;
    }
    atomic_store(&stopped, 1);
    pthread_join(other, NULL);
    qsort(samples, taken, sizeof *samples, compared);
    printf("%.0f\n", samples[taken / 2]);
    return 0;
}
