/* Serves one end of RC connections over the verbs, for tests of another implementation at the other
 * end: verbs-peer DEVICE PORT. It accepts one TCP connection and answers each line that comes over it
 * by one, which begins with "ok" or, with what has failed, "error". Numbers are decimal; all lengths
 * and offsets are in bytes, and offsets are of the memory that is registered.
 *
 *   open GIDINDEX RIGHTS MEMORYRIGHTS LENGTH PSN
 *                                       a queue pair and its memory, each with its own IBV_ACCESS_*
 *                                       ok QPN ADDRESS RKEY
 *   connect GID QPN PSN MTU RETRIES RNRRETRIES
 *   fill OFFSET LENGTH SEED             writes a pattern
 *   compare OFFSET LENGTH SEED          ok INDEX: of the first byte that is not the pattern's, or -1
 *   put OFFSET VALUE                    eight bytes in the order of the processor
 *   get OFFSET                          ok VALUE
 *   receive OFFSET LENGTH
 *   post OPERATION OFFSET LENGTH ADDRESS RKEY FIRST SECOND
 *                                       OPERATION by its number in enum ibv_wr_opcode; FIRST is the
 *                                       immediate value, or the number to add or to compare with
 *   later ...                           a request as that of post, which the next post executes before its own
 *   wait MILLISECONDS                   ok STATUS OPCODE LENGTH IMMEDIATE of a completion, or ok none
 *   close
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MEMORY (129 << 20) /* two messages of 64 MiB, with room between them */
#define QUEUE 64

static struct ibv_context *context;
static struct ibv_pd *domain;
static struct ibv_cq *completions;
static struct ibv_mr *region;
static struct ibv_qp *pair;
static unsigned char *memory;
static uint32_t first_psn;
static int gid_index;

static unsigned char pattern(uint64_t i, unsigned seed) {
    return (unsigned char)(seed * 131 + i * 7 + (i >> 8) * 13 + (i >> 16) * 29);
}

static void closed(void) {
    if (pair != NULL) ibv_destroy_qp(pair);
    if (region != NULL) ibv_dereg_mr(region);
    if (completions != NULL) ibv_destroy_cq(completions);
    pair = NULL;
    region = NULL;
    completions = NULL;
}

/* Each returns what has failed, or NULL, and has then written the answer. */

static const char *open_pair(const char *line, FILE *out) {
    unsigned rights, memory_rights, length;
    if (sscanf(line, "%d %u %u %u %u", &gid_index, &rights, &memory_rights, &length, &first_psn) != 5 || length > MEMORY) return "line";
    closed();
    completions = ibv_create_cq(context, 4 * QUEUE, NULL, NULL, 0);
    if (completions == NULL) return "ibv_create_cq";
    region = ibv_reg_mr(domain, memory, length, (int)memory_rights | IBV_ACCESS_LOCAL_WRITE);
    if (region == NULL) return "ibv_reg_mr";
    struct ibv_qp_init_attr init = {.send_cq = completions, .recv_cq = completions, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = QUEUE, .max_recv_wr = QUEUE, .max_send_sge = 1, .max_recv_sge = 1}};
    pair = ibv_create_qp(domain, &init);
    if (pair == NULL) return "ibv_create_qp";
    struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = rights};
    if (ibv_modify_qp(pair, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        return "ibv_modify_qp to INIT";
    fprintf(out, "ok %u %llu %u\n", pair->qp_num, (unsigned long long)(uintptr_t)memory, region->rkey);
    return NULL;
}

static const char *connect_pair(const char *line, FILE *out) {
    char text[64];
    unsigned number, psn, mtu, retries, rnr_retries;
    union ibv_gid gid;
    memset(&gid, 0, sizeof gid);
    if (sscanf(line, "%63s %u %u %u %u %u", text, &number, &psn, &mtu, &retries, &rnr_retries) != 6) return "line";
    gid.raw[10] = gid.raw[11] = 0xff;
    if (inet_pton(AF_INET, text, gid.raw + 12) != 1 && inet_pton(AF_INET6, text, gid.raw) != 1) return "gid";
    struct ibv_qp_attr receive = {.qp_state = IBV_QPS_RTR, .dest_qp_num = number, .rq_psn = psn,
        .path_mtu = mtu == 4096 ? IBV_MTU_4096 : mtu == 2048 ? IBV_MTU_2048 : mtu == 1024 ? IBV_MTU_1024
            : mtu == 512 ? IBV_MTU_512 : IBV_MTU_256,
        .max_dest_rd_atomic = 16, .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1,
            .grh = {.dgid = gid, .sgid_index = (uint8_t)gid_index, .hop_limit = 64}}};
    if (ibv_modify_qp(pair, &receive, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
            | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        return "ibv_modify_qp to RTR";
    struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS, .timeout = 16, .retry_cnt = (uint8_t)retries,
        .rnr_retry = (uint8_t)rnr_retries, .sq_psn = first_psn, .max_rd_atomic = 16};
    if (ibv_modify_qp(pair, &send, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY
            | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
        return "ibv_modify_qp to RTS";
    fputs("ok\n", out);
    return NULL;
}

static const char *receive(const char *line, FILE *out) {
    unsigned long long offset;
    unsigned length;
    if (sscanf(line, "%llu %u", &offset, &length) != 2) return "line";
    struct ibv_sge part = {(uintptr_t)memory + offset, length, region->lkey};
    struct ibv_recv_wr request = {.sg_list = &part, .num_sge = length > 0}, *bad;
    if (ibv_post_recv(pair, &request, &bad)) return "ibv_post_recv";
    fputs("ok\n", out);
    return NULL;
}

/* Executes the request and those that wait before it by one call, unless it waits too. */
static const char *post(const char *line, FILE *out, int waits) {
    static struct ibv_send_wr requests[QUEUE];
    static struct ibv_sge parts[QUEUE];
    static unsigned waiting;
    unsigned operation, length, key, index = waiting;
    unsigned long long offset, address, first, second;
    if (index == QUEUE || sscanf(line, "%u %llu %u %llu %u %llu %llu", &operation, &offset, &length, &address, &key,
            &first, &second) != 7)
        return "line";
    parts[index] = (struct ibv_sge){(uintptr_t)memory + offset, length, region->lkey};
    struct ibv_send_wr *request = &requests[index], *bad;
    *request = (struct ibv_send_wr){.sg_list = &parts[index], .num_sge = length > 0,
        .opcode = (enum ibv_wr_opcode)operation, .send_flags = IBV_SEND_SIGNALED};
    if (operation == IBV_WR_ATOMIC_CMP_AND_SWP || operation == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        request->wr.atomic.remote_addr = address;
        request->wr.atomic.rkey = key;
        request->wr.atomic.compare_add = first;
        request->wr.atomic.swap = second;
    } else {
        request->imm_data = htonl((uint32_t)first);
        request->wr.rdma.remote_addr = address;
        request->wr.rdma.rkey = key;
    }
    if (index > 0) requests[index - 1].next = request;
    waiting = waits ? index + 1 : 0;
    if (!waits && ibv_post_send(pair, requests, &bad)) return "ibv_post_send";
    fputs("ok\n", out);
    return NULL;
}

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static const char *wait_for(const char *line, FILE *out) {
    long long end = now() + atoll(line);
    struct ibv_wc done;
    int found;
    while ((found = ibv_poll_cq(completions, 1, &done)) == 0 && now() < end) usleep(200);
    if (found < 0) return "ibv_poll_cq";
    if (found == 0) {
        fputs("ok none\n", out);
    } else {
        fprintf(out, "ok %d %d %u %u\n", done.status, done.opcode, done.byte_len,
            done.wc_flags & IBV_WC_WITH_IMM ? ntohl(done.imm_data) : 0);
    }
    return NULL;
}

static const char *answer(char *line, FILE *out) {
    char word[16];
    int used = 0;
    unsigned long long offset, value, length;
    unsigned seed;
    if (sscanf(line, "%15s%n", word, &used) != 1) return "line";
    line += used;
    if (!strcmp(word, "open")) return open_pair(line, out);
    if (pair == NULL) return "order";
    if (!strcmp(word, "connect")) return connect_pair(line, out);
    if (!strcmp(word, "receive")) return receive(line, out);
    if (!strcmp(word, "post")) return post(line, out, 0);
    if (!strcmp(word, "later")) return post(line, out, 1);
    if (!strcmp(word, "wait")) return wait_for(line, out);
    if (!strcmp(word, "close")) {
        closed();
        fputs("ok\n", out);
        return NULL;
    }
    if (!strcmp(word, "get") && sscanf(line, "%llu", &offset) == 1 && offset <= MEMORY - 8) {
        fprintf(out, "ok %llu\n", *(unsigned long long *)(memory + offset));
        return NULL;
    }
    if (!strcmp(word, "put") && sscanf(line, "%llu %llu", &offset, &value) == 2 && offset <= MEMORY - 8) {
        *(unsigned long long *)(memory + offset) = value;
        fputs("ok\n", out);
        return NULL;
    }
    if (sscanf(line, "%llu %llu %u", &offset, &length, &seed) != 3 || offset > MEMORY || length > MEMORY - offset)
        return "line";
    if (!strcmp(word, "fill")) {
        for (uint64_t i = 0; i < length; i++) memory[offset + i] = pattern(i, seed);
        fputs("ok\n", out);
        return NULL;
    }
    if (!strcmp(word, "compare")) {
        long long at = -1;
        for (uint64_t i = 0; at < 0 && i < length; i++)
            if (memory[offset + i] != pattern(i, seed)) at = (long long)i;
        fprintf(out, "ok %lld\n", at);
        return NULL;
    }
    return "word";
}

static void fail(const char *what) {
    perror(what);
    exit(2);
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: verbs-peer DEVICE PORT\n");
        return 2;
    }
    int devices;
    struct ibv_device **list = ibv_get_device_list(&devices);
    for (int i = 0; list != NULL && i < devices; i++)
        if (!strcmp(ibv_get_device_name(list[i]), arguments[1])) context = ibv_open_device(list[i]);
    if (context == NULL) fail("ibv_open_device");
    domain = ibv_alloc_pd(context);
    memory = aligned_alloc(4096, MEMORY);
    if (domain == NULL || memory == NULL) fail("ibv_alloc_pd");
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[2]))};
    int server = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(server, (struct sockaddr *)&at, sizeof at) || listen(server, 1)) fail("listen");
    int client = accept(server, NULL, NULL);
    if (client < 0) fail("accept");
    FILE *in = fdopen(client, "r"), *out = fdopen(dup(client), "w");
    char line[256];
    while (fgets(line, sizeof line, in) != NULL) {
        const char *failed = answer(line, out);
        if (failed != NULL) fprintf(out, "error %s\n", failed);
        fflush(out);
    }
    closed();
    return 0;
}
