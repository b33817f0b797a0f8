import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Cells of requests that are refused: the status of either side, and memory that is as before. */
final class ErrorCells {
    private static final int MTU = 1024;
    private static final int SIZE = 5000;
    private static final int SHORT = 100; // of a receive
    private static final int WRONG = 0x5500; // bits of a key that are others
    private static final Duration LATE = Duration.ofMillis(300); // a few waits for a receive

    private ErrorCells() {}

    static void runAll(LinuxCells cells) {
        for (Verb each : List.of(Verb.WRITE, Verb.READ, Verb.FETCH_ADD)) {
            int other = each == Verb.READ ? 2 : 4; // without any right, memory has no key
            cells.cell(
                    each + " with a wrong key, we request",
                    MTU,
                    ends -> {
                        ends.keyError = WRONG;
                        ends.connect();
                        requestRefused(ends, each, Status.NOT_PERMITTED);
                    });
            cells.cell(
                    each + " with a wrong key, Linux requests",
                    MTU,
                    ends -> {
                        ends.keyError = WRONG;
                        ends.connect();
                        serveRefused(ends, each);
                    });
            cells.cell(
                    each + " without the memory's right, we request",
                    MTU,
                    ends -> {
                        ends.memoryRights = other;
                        ends.connect();
                        requestRefused(ends, each, Status.NOT_PERMITTED);
                    });
            // Linux calls that an invalid request.
            cells.cell(
                    each + " without the queue pair's right, we request",
                    MTU,
                    ends -> {
                        ends.connect(other, LinuxEnds.ALL, LinuxEnds.RNR_UNLIMITED);
                        requestRefused(ends, each, Status.UNEXPECTED);
                    });
            cells.cell(
                    each + " without the right, Linux requests",
                    MTU,
                    ends -> {
                        Permissions others =
                                Permissions.of(
                                        each == Verb.READ
                                                ? AccessFlag.RDMA_WRITE
                                                : AccessFlag.RDMA_READ);
                        ends.connect(LinuxEnds.ALL_RIGHTS, others, LinuxEnds.RNR_UNLIMITED);
                        serveRefused(ends, each);
                    });
        }
        cells.cell("SEND before its receive, we request", MTU, ErrorCells::lateAtLinux);
        cells.cell("SEND before its receive, Linux requests", MTU, ErrorCells::lateHere);
        cells.cell(
                "SEND without a receive, we request",
                MTU,
                ends -> {
                    ends.rnrRetries = 1;
                    ends.connect();
                    ends.submit(Verb.SEND, 0, 0, SIZE);
                    ends.awaitTask(Status.IO_FAILED);
                    ends.awaitEnd(Status.IO_FAILED);
                });
        cells.cell(
                "SEND without a receive, Linux requests",
                MTU,
                ends -> {
                    ends.connect(LinuxEnds.ALL_RIGHTS, LinuxEnds.ALL, 1);
                    ends.post(Verb.SEND, 0, 0, SIZE);
                    ends.peer.expectCompletion(LinuxPeer.RNR_RETRIES_EXCEEDED);
                    requireCounted(ends, "rnr_naks_sent");
                });
        // As that of a program that was killed: its kernel drops what comes.
        cells.cell(
                "SEND to a queue pair that is gone, we request",
                MTU,
                ends -> {
                    ends.connect();
                    ends.peer.ask("close");
                    ends.submit(Verb.SEND, 0, 0, SIZE);
                    ends.awaitTask(Status.CONNECTION_RESET);
                    ends.awaitEnd(Status.CONNECTION_RESET);
                });
        cells.cell(
                "SEND longer than its receive, we request",
                MTU,
                ends -> {
                    ends.connect();
                    ends.peer.fill(ends.half() + SHORT, SIZE, ends.seed);
                    ends.peer.ask("receive " + ends.half() + " " + SHORT);
                    ends.submit(Verb.SEND, 0, 0, SIZE);
                    ends.awaitTask(Status.IO_FAILED);
                    ends.peer.expectCompletion(LinuxPeer.LOCAL_OPERATION);
                    ends.peer.requireFilled(ends.half() + SHORT, SIZE, ends.seed);
                });
        cells.cell(
                "SEND longer than its receive, Linux requests",
                MTU,
                ends -> {
                    ends.connect();
                    ends.fill(ends.half() + SHORT, SIZE, ends.seed);
                    ends.receive(ends.half(), SHORT);
                    ends.post(Verb.SEND, 0, 0, SIZE);
                    ends.peer.expectCompletion(LinuxPeer.REMOTE_OPERATION);
                    ends.awaitTask(Status.TOO_BIG);
                    ends.requireFilled(ends.half() + SHORT, SIZE, ends.seed);
                });
    }

    private static int size(Verb verb) {
        return verb.isAtomic() ? 8 : SIZE;
    }

    /** Our request, of another pattern than that of its destination. */
    private static void requestRefused(LinuxEnds ends, Verb verb, Status expected)
            throws IOException {
        long half = ends.half();
        ends.fill(0, SIZE, ends.seed);
        ends.peer.fill(half, SIZE, ends.seed + 1);
        ends.submit(verb, 0, half, size(verb));
        ends.awaitTask(expected);
        ends.awaitEnd(expected);
        ends.requireFilled(0, SIZE, ends.seed);
        ends.peer.requireFilled(half, SIZE, ends.seed + 1);
    }

    private static void serveRefused(LinuxEnds ends, Verb verb) throws IOException {
        long half = ends.half();
        ends.peer.fill(0, SIZE, ends.seed);
        ends.fill(half, SIZE, ends.seed + 1);
        ends.post(verb, 0, half, size(verb));
        ends.peer.expectCompletion(LinuxPeer.REMOTE_ACCESS);
        ends.awaitEnd(Status.NOT_PERMITTED);
        ends.peer.requireFilled(0, SIZE, ends.seed);
        ends.requireFilled(half, SIZE, ends.seed + 1);
    }

    private static void lateAtLinux(LinuxEnds ends) throws IOException {
        ends.connect();
        ends.fill(0, SIZE, ends.seed);
        ends.submit(Verb.SEND, 0, 0, SIZE);
        ends.progressFor(LATE);
        requireCounted(ends, "rnr_naks_received");
        ends.peer.ask("receive " + ends.half() + " " + SIZE);
        ends.awaitTask(Status.SUCCESS);
        ends.peer.expectCompletion(LinuxPeer.SUCCESS, SIZE, 0);
        ends.peer.requireFilled(ends.half(), SIZE, ends.seed);
    }

    private static void lateHere(LinuxEnds ends) throws IOException {
        ends.connect();
        ends.peer.fill(0, SIZE, ends.seed);
        ends.post(Verb.SEND, 0, 0, SIZE);
        ends.progressFor(LATE);
        requireCounted(ends, "rnr_naks_sent");
        ends.receive(ends.half(), SIZE);
        ends.peer.expectCompletion(LinuxPeer.SUCCESS);
        ends.awaitTask(Status.SUCCESS);
        LinuxPeer.equal("length", SIZE, ends.receivedBytes);
        ends.requireFilled(ends.half(), SIZE, ends.seed);
    }

    /** Without it the receive was not late. */
    private static void requireCounted(LinuxEnds ends, String counter) {
        if (ends.count(counter) == 0) {
            throw new IllegalStateException("nothing was counted: counter=" + counter);
        }
    }
}
