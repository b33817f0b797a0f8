/* C's memcpy between a volume and a few slices, slice after slice: prints GB/s (10^9 bytes).
 *
 *     memcpy MIB SLICE_BYTES SECONDS read|write
 *
 * Small slices are taken at random places, as a random read takes them; large ones in order. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char *volume(size_t bytes) {
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        perror("memcpy: mmap");
        exit(1);
    }
    memset(at, 1, bytes);
    return at;
}

int main(int argc, char **argv) {
    int writes = argc == 5 && strcmp(argv[4], "write") == 0;
    if (argc != 5 || (!writes && strcmp(argv[4], "read") != 0)) {
        fputs("usage: memcpy MIB SLICE_BYTES SECONDS read|write\n", stderr);
        return 2;
    }
    size_t bytes = strtoull(argv[1], NULL, 10) << 20;
    size_t slice = strtoull(argv[2], NULL, 10);
    double limit = strtod(argv[3], NULL);
    if (slice == 0 || slice > bytes) {
        fputs("memcpy: slice is illegal\n", stderr);
        return 2;
    }
    /* The other end is 32 slices at most: so many operations are in flight at once. */
    size_t slots = bytes / slice < 32 ? bytes / slice : 32;
    char *blocks = volume(bytes);
    char *requests = volume(slots * slice);
    uint64_t random = 0x9e3779b97f4a7c15u;
    uint64_t copied = 0;
    size_t next = 0;
    double begin = now();
    double took;
    do {
        for (int i = 0; i < 64; i++, next++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            size_t index = (slice < 65536 ? random : next) % (bytes / slice);
            char *block = blocks + index * slice;
            char *request = requests + next % slots * slice;
            memcpy(writes ? block : request, writes ? request : block, slice);
            __asm__ volatile("" ::: "memory");
            copied += slice;
        }
        took = now() - begin;
    } while (took < limit);
    printf("%.3f\n", (double)copied / took / 1e9);
    return 0;
}
