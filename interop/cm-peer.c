/* Ends of connections by librdmacm, for tests of another implementation at the other end: cm-peer PORT.
 * Each TCP connection to the port is served by a process of its own, which ends with it. It answers each
 * line by one, which begins with "ok" or, with what has failed, "error". A connection, or listener, is
 * named by a number, its slot. Data and messages are in hexadecimal digits, "-" for none.
 *
 *   listen ADDRESS PORT            ok SLOT
 *   connect ADDRESS PORT DATA      ok SLOT: the request is sent, and an event follows
 *   event MILLISECONDS             ok NAME SLOT STATUS DATA of an event, or ok none; CONNECT_REQUEST
 *                                  has the slot of the new connection
 *   accept SLOT DATA
 *   reject SLOT DATA
 *   disconnect SLOT
 *   send SLOT MESSAGE
 *   completion MILLISECONDS        ok SLOT STATUS OPCODE MESSAGE, or ok none; OPCODE 0 is a send
 *   destroy SLOT                   without a disconnect before it
 *   serve COUNT                    accepts as many connections, one after another; each sends a message
 *                                  back, and is ended by the peer
 *   call COUNT ADDRESS PORT        connects as often, one after another; each sends a message, which
 *                                  comes back, and is ended by the peer, whose message has then arrived
 *   die                            ends this process by SIGKILL
 *   quit                           ends the program
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 512
#define MESSAGE 64   /* bytes of a message at most */
#define RESOLVE 5000 /* milliseconds */
#define LIMIT 40000  /* milliseconds of a step of serve and call */
#define RETRIES 2    /* of the transport; each takes about 2 s */

static struct rdma_event_channel *channel;
static struct ibv_pd *domain;
static struct ibv_cq *completions;
static struct ibv_mr *region;
static struct rdma_cm_id *ids[SLOTS];
static unsigned char memory[SLOTS][2][MESSAGE]; /* received, sent */

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static int slot_for(struct rdma_cm_id *id) {
    for (int i = 0; i < SLOTS; i++) {
        if (ids[i] == NULL) {
            ids[i] = id;
            id->context = (void *)(intptr_t)i;
            return i;
        }
    }
    return -1;
}

/* Number of bytes, -1 if the text is no such data. */
static int from_hex(const char *text, unsigned char *to, int limit) {
    int length = 0;
    if (!strcmp(text, "-")) return 0;
    for (; text[2 * length] && text[2 * length + 1]; length++) {
        unsigned value;
        if (length == limit || sscanf(text + 2 * length, "%2x", &value) != 1) return -1;
        to[length] = (unsigned char)value;
    }
    return length;
}

static void put_hex(FILE *out, const unsigned char *from, int length) {
    if (length == 0) fputc('-', out);
    for (int i = 0; i < length; i++) fprintf(out, "%02x", from[i]);
    fputc('\n', out);
}

static const char *receive(int slot) {
    struct ibv_sge part = {(uintptr_t)memory[slot][0], MESSAGE, region->lkey};
    struct ibv_recv_wr request = {.wr_id = (uint64_t)slot * 2, .sg_list = &part, .num_sge = 1}, *bad;
    return ibv_post_recv(ids[slot]->qp, &request, &bad) ? "ibv_post_recv" : NULL;
}

/* A queue pair with one receive. */
static const char *ready(int slot) {
    struct rdma_cm_id *id = ids[slot];
    if (domain == NULL) {
        domain = ibv_alloc_pd(id->verbs);
        completions = ibv_create_cq(id->verbs, 4 * SLOTS, NULL, NULL, 0);
        if (domain == NULL || completions == NULL) return "ibv_create_cq";
        region = ibv_reg_mr(domain, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
        if (region == NULL) return "ibv_reg_mr";
    }
    struct ibv_qp_init_attr init = {.send_cq = completions, .recv_cq = completions, .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1, .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
    if (rdma_create_qp(id, domain, &init)) return "rdma_create_qp";
    return receive(slot);
}

static const char *destroy(int slot) {
    struct rdma_cm_id *id = ids[slot];
    ids[slot] = NULL;
    if (id->qp != NULL) rdma_destroy_qp(id);
    return rdma_destroy_id(id) ? "rdma_destroy_id" : NULL;
}

/* The next event, which the caller acknowledges, or NULL. The library keeps some events to itself. */
static struct rdma_cm_event *next_event(long long milliseconds) {
    struct pollfd ready = {.fd = channel->fd, .events = POLLIN};
    struct rdma_cm_event *event;
    long long end = now() + milliseconds, left = milliseconds;
    while (poll(&ready, 1, (int)left) == 1) {
        if (rdma_get_cm_event(channel, &event) == 0) return event;
        if (errno != EAGAIN) return NULL;
        left = end > now() ? end - now() : 0;
    }
    return NULL;
}

static int is_text_address(const char *text, const char *port, struct addrinfo **found) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    return getaddrinfo(text, port, &hints, found) == 0;
}

static const char *listen_at(const char *line, FILE *out) {
    char address[64], port[8];
    struct addrinfo *found;
    struct rdma_cm_id *id;
    if (sscanf(line, "%63s %7s", address, port) != 2 || !is_text_address(address, port, &found)) return "line";
    if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) return "rdma_create_id";
    int slot = slot_for(id);
    if (slot < 0) return "slots";
    int failed = rdma_bind_addr(id, found->ai_addr) || rdma_listen(id, SLOTS);
    freeaddrinfo(found);
    if (failed) {
        destroy(slot);
        return "rdma_listen";
    }
    fprintf(out, "ok %d\n", slot);
    return NULL;
}

static const char *connect_to(const char *line, int *made) {
    char address[64], port[8], data[256];
    unsigned char bytes[64];
    struct addrinfo *found;
    struct rdma_cm_id *id;
    if (sscanf(line, "%63s %7s %255s", address, port, data) != 3 || !is_text_address(address, port, &found)) return "line";
    int length = from_hex(data, bytes, sizeof bytes);
    if (length < 0) return "data";
    if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP)) return "rdma_create_id"; /* waits for its events itself */
    int slot = slot_for(id);
    if (slot < 0) return "slots";
    const char *failed = rdma_resolve_addr(id, NULL, found->ai_addr, RESOLVE) ? "rdma_resolve_addr" : NULL;
    freeaddrinfo(found);
    if (failed == NULL && rdma_resolve_route(id, RESOLVE)) failed = "rdma_resolve_route";
    if (failed == NULL && rdma_migrate_id(id, channel)) failed = "rdma_migrate_id";
    if (failed == NULL) failed = ready(slot);
    struct rdma_conn_param with = {.private_data = bytes, .private_data_len = (uint8_t)length,
        .responder_resources = 4, .initiator_depth = 4, .retry_count = RETRIES, .rnr_retry_count = 7};
    if (failed == NULL && rdma_connect(id, &with)) failed = "rdma_connect";
    if (failed != NULL) {
        destroy(slot);
        return failed;
    }
    *made = slot;
    return NULL;
}

static const char *event(const char *line, FILE *out) {
    long long end = now() + atoll(line);
    struct rdma_cm_event *event;
    do {
        event = next_event(end > now() ? end - now() : 0);
        if (event == NULL) {
            fputs("ok none\n", out);
            return NULL;
        }
        if (event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT) break;
        rdma_ack_cm_event(event);
    } while (1);
    int slot = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? slot_for(event->id) : (int)(intptr_t)event->id->context;
    if (slot < 0) return "slots";
    fprintf(out, "ok %s %d %d ", rdma_event_str(event->event) + strlen("RDMA_CM_EVENT_"), slot, event->status);
    put_hex(out, event->param.conn.private_data, event->param.conn.private_data == NULL ? 0 : event->param.conn.private_data_len);
    rdma_ack_cm_event(event);
    return NULL;
}

static const char *completion(const char *line, FILE *out) {
    long long end = now() + atoll(line);
    struct ibv_wc done;
    int found = 0;
    int slot = 0, is_send = 0;
    do { /* receives that are flushed are no news */
        while ((found = completions == NULL ? 0 : ibv_poll_cq(completions, 1, &done)) == 0 && now() < end) usleep(200);
        if (found < 0) return "ibv_poll_cq";
        if (found == 0) {
            fputs("ok none\n", out);
            return NULL;
        }
        slot = (int)(done.wr_id / 2);
        is_send = done.wr_id % 2 != 0;
    } while (!is_send && done.status == IBV_WC_WR_FLUSH_ERR);
    fprintf(out, "ok %d %d %d ", slot, done.status, is_send ? 0 : 1);
    int received = !is_send && done.status == IBV_WC_SUCCESS;
    put_hex(out, memory[slot][0], received ? (int)done.byte_len : 0);
    if (received && ids[slot] != NULL) receive(slot); /* refused if the queue pair has ended */
    return NULL;
}

static const char *send_bytes(int slot, int length) {
    struct ibv_sge part = {(uintptr_t)memory[slot][1], (uint32_t)length, region->lkey};
    struct ibv_send_wr request = {.wr_id = (uint64_t)slot * 2 + 1, .sg_list = &part, .num_sge = length > 0,
        .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
    return ibv_post_send(ids[slot]->qp, &request, &bad) ? "ibv_post_send" : NULL;
}

static const char *send_message(int slot, const char *data) {
    int length = from_hex(data, memory[slot][1], MESSAGE);
    return length < 0 ? "data" : send_bytes(slot, length);
}

static const char *accept_it(int slot, const char *data) {
    unsigned char bytes[256];
    int length = from_hex(data, bytes, 255);
    if (length < 0) return "data";
    const char *failed = ready(slot);
    struct rdma_conn_param with = {.private_data = bytes, .private_data_len = (uint8_t)length,
        .responder_resources = 4, .initiator_depth = 4, .retry_count = RETRIES, .rnr_retry_count = 7};
    if (failed == NULL && rdma_accept(ids[slot], &with)) failed = "rdma_accept";
    return failed;
}

static const char *reject_it(int slot, const char *data) {
    unsigned char bytes[256];
    int length = from_hex(data, bytes, 255);
    if (length < 0) return "data";
    return rdma_reject(ids[slot], bytes, (uint8_t)length) ? "rdma_reject" : destroy(slot);
}

static struct rdma_cm_id *requested[8]; /* have come before the end of the connection before */
static int requests;
static enum rdma_cm_event_type last; /* event that was awaited or not */

/* Waits for an event, and gives its connection; NULL for another one, or none in time. */
static struct rdma_cm_id *await_event(enum rdma_cm_event_type expected) {
    if (expected == RDMA_CM_EVENT_CONNECT_REQUEST && requests > 0) {
        struct rdma_cm_id *id = requested[0];
        memmove(requested, requested + 1, (size_t)--requests * sizeof *requested);
        return id;
    }
    long long end = now() + LIMIT;
    struct rdma_cm_event *event;
    while (now() < end && (event = next_event(end - now())) != NULL) {
        enum rdma_cm_event_type type = last = event->event;
        struct rdma_cm_id *id = event->id;
        rdma_ack_cm_event(event);
        if (type == expected) return id;
        if (type == RDMA_CM_EVENT_CONNECT_REQUEST && requests < 8)
            requested[requests++] = id;
        else if (type != RDMA_CM_EVENT_TIMEWAIT_EXIT) break;
    }
    return NULL;
}

/* Waits for a message, or the end of a send; its length, -1 for a failure, or none in time. */
static int await_completion(int slot, int is_send) {
    long long end = now() + LIMIT;
    struct ibv_wc done;
    while (now() < end) {
        int found = ibv_poll_cq(completions, 1, &done);
        if (found < 0) break;
        if (found == 0) {
            usleep(200);
        } else if (done.wr_id % 2 != 0 || done.status != IBV_WC_WR_FLUSH_ERR) {
            int is_it = done.status == IBV_WC_SUCCESS && done.wr_id == (uint64_t)slot * 2 + (unsigned)is_send;
            return is_it ? (int)done.byte_len : -1;
        }
    }
    return -1;
}

static const char *serve_row(const char *line, FILE *out) {
    int count = atoi(line);
    for (int i = 0; i < count; i++) {
        struct rdma_cm_id *id = await_event(RDMA_CM_EVENT_CONNECT_REQUEST);
        if (id == NULL) return "no request";
        int slot = slot_for(id);
        if (slot < 0) return "slots";
        const char *failed = accept_it(slot, "-");
        if (failed != NULL) return failed;
        if (await_event(RDMA_CM_EVENT_ESTABLISHED) != id) {
            if (last != RDMA_CM_EVENT_REJECTED) return "not established";
            destroy(slot); /* a late repeat of a request whose connection is over */
            i--;
            continue;
        }
        int length = await_completion(slot, 0);
        if (length < 0) return "no message";
        memcpy(memory[slot][1], memory[slot][0], (size_t)length);
        failed = send_bytes(slot, length);
        if (failed != NULL) return failed;
        if (await_completion(slot, 1) < 0) return "message not taken";
        if (await_event(RDMA_CM_EVENT_DISCONNECTED) != id) return "not disconnected";
        if (rdma_disconnect(id)) return "rdma_disconnect";
        destroy(slot);
    }
    fputs("ok\n", out);
    return NULL;
}

static const char *call_row(const char *line, FILE *out) {
    char address[64], to[128];
    int count, port, slot;
    if (sscanf(line, "%d %63s %d", &count, address, &port) != 3) return "line";
    snprintf(to, sizeof to, "%s %d -", address, port);
    for (int i = 0; i < count; i++) {
        const char *failed = connect_to(to, &slot);
        if (failed != NULL) return failed;
        if (await_event(RDMA_CM_EVENT_ESTABLISHED) != ids[slot]) return "not established";
        int length = snprintf((char *)memory[slot][1], MESSAGE, "row %d", i);
        failed = send_bytes(slot, length);
        if (failed != NULL) return failed;
        if (await_completion(slot, 1) < 0) return "message not taken";
        if (await_completion(slot, 0) != length || memcmp(memory[slot][0], memory[slot][1], (size_t)length))
            return "no or another message";
        if (await_event(RDMA_CM_EVENT_DISCONNECTED) != ids[slot]) return "not disconnected";
        if (rdma_disconnect(ids[slot])) return "rdma_disconnect";
        destroy(slot);
    }
    fputs("ok\n", out);
    return NULL;
}

static const char *answer(char *line, FILE *out) {
    char word[16], data[520] = "-";
    int used = 0, slot;
    if (sscanf(line, "%15s%n", word, &used) != 1) return "line";
    line += used;
    if (!strcmp(word, "listen")) return listen_at(line, out);
    if (!strcmp(word, "connect")) {
        const char *failed = connect_to(line, &slot);
        if (failed == NULL) fprintf(out, "ok %d\n", slot);
        return failed;
    }
    if (!strcmp(word, "serve")) return serve_row(line, out);
    if (!strcmp(word, "call")) return call_row(line, out);
    if (!strcmp(word, "event")) return event(line, out);
    if (!strcmp(word, "completion")) return completion(line, out);
    if (!strcmp(word, "die")) kill(getpid(), SIGKILL);
    if (!strcmp(word, "quit")) kill(getppid(), SIGTERM);
    if (sscanf(line, "%d %519s", &slot, data) < 1 || slot < 0 || slot >= SLOTS || ids[slot] == NULL) return "line";
    const char *failed = "word";
    if (!strcmp(word, "accept")) failed = accept_it(slot, data);
    if (!strcmp(word, "reject")) failed = reject_it(slot, data);
    if (!strcmp(word, "send")) failed = send_message(slot, data);
    if (!strcmp(word, "destroy")) failed = destroy(slot);
    if (!strcmp(word, "disconnect")) failed = rdma_disconnect(ids[slot]) ? "rdma_disconnect" : NULL;
    if (failed == NULL) fputs("ok\n", out);
    return failed;
}

static void fail(const char *what) {
    perror(what);
    exit(2);
}

static void serve(int client) {
    int on = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    channel = rdma_create_event_channel();
    if (channel == NULL) fail("rdma_create_event_channel");
    /* Behind an event that it keeps to itself, the library would wait for the next one. */
    if (fcntl(channel->fd, F_SETFL, O_NONBLOCK)) fail("fcntl");
    FILE *in = fdopen(client, "r"), *out = fdopen(dup(client), "w");
    char line[1024];
    while (fgets(line, sizeof line, in) != NULL) {
        const char *failed = answer(line, out);
        if (failed != NULL) fprintf(out, "error %s: %m\n", failed);
        fflush(out);
    }
    exit(0);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: cm-peer PORT\n");
        return 2;
    }
    signal(SIGCHLD, SIG_IGN);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[1]))};
    int server = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(server, (struct sockaddr *)&at, sizeof at) || listen(server, 8)) fail("listen");
    while (1) {
        int client = accept(server, NULL, NULL);
        if (client < 0) fail("accept");
        pid_t child = fork();
        if (child < 0) fail("fork");
        if (child == 0) {
            close(server);
            serve(client);
        }
        close(client);
    }
}
