/* C's memcpy from a window of messages into another, as a producer copies into a consumer's buffers:
 * prints GB/s (10^9 bytes).
 *
 *     one-way MESSAGE_BYTES WINDOW SLICE_BYTES SECONDS
 *
 * Both windows are memfds, all pages of which are there before. Messages go in order, each in slices.
 * GLIBC_TUNABLES=glibc.cpu.x86_non_temporal_threshold=N is for the caller. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char *window_of(size_t bytes) {
    int descriptor = memfd_create("one-way", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, (off_t)bytes) != 0) {
        perror("one-way: memfd");
        exit(1);
    }
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    if (at == MAP_FAILED) {
        perror("one-way: mmap");
        exit(1);
    }
    memset(at, 1, bytes);
    return at;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fputs("usage: one-way MESSAGE_BYTES WINDOW SLICE_BYTES SECONDS\n", stderr);
        return 2;
    }
    size_t message = strtoull(argv[1], NULL, 10);
    size_t window = strtoull(argv[2], NULL, 10);
    size_t slice = strtoull(argv[3], NULL, 10);
    double limit = strtod(argv[4], NULL);
    if (message == 0 || window == 0 || slice == 0 || limit <= 0) {
        fputs("one-way: a value is illegal\n", stderr);
        return 2;
    }
    char *source = window_of(message * window);
    char *destination = window_of(message * window);
    uint64_t copied = 0;
    size_t next = 0;
    double begin = now();
    double took;
    do {
        size_t offset = next++ % window * message;
        for (size_t at = 0; at < message; at += slice) {
            size_t bytes = message - at < slice ? message - at : slice;
            memcpy(destination + offset + at, source + offset + at, bytes);
            __asm__ volatile("" ::: "memory");
        }
        copied += message;
        took = now() - begin;
    } while (took < limit);
    printf("%.3f\n", (double)copied / took / 1e9);
    return 0;
}
