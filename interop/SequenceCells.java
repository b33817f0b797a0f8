import io.softdpu.core.Status;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Cells of several requests: in flight together, with lists of bufs, about a wrap, and with pauses.
 */
final class SequenceCells {
    private static final int MTU = 1024;
    private static final int READS = 16;
    private static final int SIZE = 5000;
    private static final int PLACE = 8192; // from one place of data to the next
    private static final Duration PAUSE = Duration.ofSeconds(5); // two keep-alives and more

    /**
     * Sum 10,000: most ends are inside of a packet, one is at its end, one packet has three pieces.
     */
    private static final int[] PIECES = {1, 1000, 23, 1500, 3, 2000, 5473};

    private static final int LIST_SIZE = 10_000;

    private SequenceCells() {}

    static void runAll(LinuxCells cells) {
        cells.cell("16 reads in flight, we request", MTU, SequenceCells::readsRequested);
        cells.cell("16 reads in flight, Linux requests", MTU, SequenceCells::readsServed);
        cells.cell(
                "writes between reads and atomics, we request", MTU, SequenceCells::mixedRequested);
        cells.cell(
                "writes between reads and atomics, Linux requests",
                MTU,
                SequenceCells::mixedServed);
        for (Verb each : List.of(Verb.WRITE, Verb.SEND, Verb.READ)) {
            cells.cell(
                    each + " with a list of bufs, we request",
                    MTU,
                    ends -> listRequested(ends, each));
        }
        cells.cell("SEND into a list of bufs, Linux requests", MTU, SequenceCells::listServed);
        cells.cell("PSN wrap, we request", 256, SequenceCells::wrapRequested);
        cells.cell("PSN wrap, Linux requests", 256, SequenceCells::wrapServed);
        cells.cell("idle for 5 s before the first request", MTU, ends -> idle(ends, null));
        for (Verb each : List.of(Verb.WRITE, Verb.READ, Verb.FETCH_ADD)) {
            cells.cell("idle for 5 s after " + each + " of ours", MTU, ends -> idle(ends, each));
        }
        cells.cell("idle for 5 s after WRITE of Linux alone", MTU, SequenceCells::idleServed);
    }

    private static long place(LinuxEnds ends, int index) {
        return ends.half() + (long) index * PLACE;
    }

    private static void readsRequested(LinuxEnds ends) throws IOException {
        ends.connect();
        for (int i = 0; i < READS; i++) {
            ends.peer.fill(place(ends, i), SIZE, ends.seed + i);
        }
        for (int i = 0; i < READS; i++) {
            ends.submit(Verb.READ, (long) i * PLACE, place(ends, i), SIZE);
        }
        for (int i = 0; i < READS; i++) {
            ends.awaitTask(Status.SUCCESS);
        }
        for (int i = 0; i < READS; i++) {
            ends.requireFilled((long) i * PLACE, SIZE, ends.seed + i);
        }
    }

    private static void readsServed(LinuxEnds ends) throws IOException {
        ends.connect();
        for (int i = 0; i < READS; i++) {
            ends.fill(place(ends, i), SIZE, ends.seed + i);
        }
        for (int i = 0; i < READS - 1; i++) {
            ends.postLater(Verb.READ, (long) i * PLACE, place(ends, i), SIZE);
        }
        ends.post(Verb.READ, (READS - 1L) * PLACE, place(ends, READS - 1), SIZE);
        for (int i = 0; i < READS; i++) {
            ends.peer.expectCompletion(LinuxPeer.SUCCESS);
        }
        for (int i = 0; i < READS; i++) {
            ends.peer.requireFilled((long) i * PLACE, SIZE, ends.seed + i);
        }
    }

    /** Request of a sequence: places by index, on this side and on the other. */
    private record Step(Verb verb, int local, int remote) {
        int size() {
            return verb.isAtomic() ? 8 : SIZE;
        }
    }

    /**
     * The places: 0, 2 and 3 get writes, 1 is read, 4 has a number. The read of place 0 is behind
     * its write, so it has the data of that.
     */
    private static final List<Step> MIXED =
            List.of(
                    new Step(Verb.READ, 5, 1),
                    new Step(Verb.WRITE, 0, 0),
                    new Step(Verb.FETCH_ADD, 6, 4),
                    new Step(Verb.WRITE, 2, 2),
                    new Step(Verb.READ, 7, 0),
                    new Step(Verb.FETCH_ADD, 8, 4),
                    new Step(Verb.WRITE, 3, 3));

    private static void mixedRequested(LinuxEnds ends) throws IOException {
        ends.connect();
        ends.peer.fill(place(ends, 1), SIZE, ends.seed + 1);
        ends.peer.ask("put " + place(ends, 4) + " 41");
        for (int source : new int[] {0, 2, 3}) {
            ends.fill((long) source * PLACE, SIZE, ends.seed + source);
        }
        for (Step each : MIXED) {
            ends.submit(
                    each.verb(),
                    (long) each.local() * PLACE,
                    place(ends, each.remote()),
                    each.size());
        }
        for (Step _ : MIXED) {
            ends.awaitTask(Status.SUCCESS);
        }
        for (int written : new int[] {0, 2, 3}) {
            ends.peer.requireFilled(place(ends, written), SIZE, ends.seed + written);
        }
        ends.requireFilled(5L * PLACE, SIZE, ends.seed + 1);
        ends.requireFilled(7L * PLACE, SIZE, ends.seed);
        LinuxPeer.equal("value before the first addition", 41, ends.word(6L * PLACE));
        LinuxPeer.equal("value before the second addition", 46, ends.word(8L * PLACE));
        LinuxPeer.equal("value", 51, ends.peer.number("get " + place(ends, 4)));
    }

    private static void mixedServed(LinuxEnds ends) throws IOException {
        ends.connect();
        ends.fill(place(ends, 1), SIZE, ends.seed + 1);
        ends.setWord(place(ends, 4), 41);
        for (int source : new int[] {0, 2, 3}) {
            ends.peer.fill((long) source * PLACE, SIZE, ends.seed + source);
        }
        for (Step each : MIXED) {
            if (each == MIXED.getLast()) {
                ends.post(
                        each.verb(),
                        (long) each.local() * PLACE,
                        place(ends, each.remote()),
                        each.size());
            } else {
                ends.postLater(
                        each.verb(),
                        (long) each.local() * PLACE,
                        place(ends, each.remote()),
                        each.size());
            }
        }
        for (Step _ : MIXED) {
            ends.peer.expectCompletion(LinuxPeer.SUCCESS);
        }
        for (int written : new int[] {0, 2, 3}) {
            ends.requireFilled(place(ends, written), SIZE, ends.seed + written);
        }
        ends.peer.requireFilled(5L * PLACE, SIZE, ends.seed + 1);
        ends.peer.requireFilled(7L * PLACE, SIZE, ends.seed);
        LinuxPeer.equal(
                "value before the first addition", 41, ends.peer.number("get " + 6 * PLACE));
        LinuxPeer.equal(
                "value before the second addition", 46, ends.peer.number("get " + 8 * PLACE));
        LinuxPeer.equal("value", 51, ends.word(place(ends, 4)));
    }

    private static void listRequested(LinuxEnds ends, Verb verb) throws IOException {
        ends.connect();
        long remote = ends.half();
        if (verb == Verb.READ) {
            ends.peer.fill(remote, LIST_SIZE, ends.seed);
        } else {
            ends.fillPieces(0, ends.seed, PIECES);
        }
        if (verb == Verb.SEND) {
            ends.peer.ask("receive " + remote + " " + LIST_SIZE);
        }
        ends.submit(verb, 0, remote, PIECES);
        ends.awaitTask(Status.SUCCESS);
        if (verb == Verb.READ) {
            ends.requireFilledPieces(0, ends.seed, PIECES);
            return;
        }
        if (verb == Verb.SEND) {
            ends.peer.expectCompletion(LinuxPeer.SUCCESS, LIST_SIZE, 0);
        }
        ends.peer.requireFilled(remote, LIST_SIZE, ends.seed);
    }

    private static void listServed(LinuxEnds ends) throws IOException {
        ends.connect();
        ends.peer.fill(0, LIST_SIZE, ends.seed);
        ends.receive(0, PIECES);
        ends.post(Verb.SEND, 0, 0, LIST_SIZE);
        ends.peer.expectCompletion(LinuxPeer.SUCCESS);
        ends.awaitTask(Status.SUCCESS);
        LinuxPeer.equal("length", LIST_SIZE, ends.receivedBytes);
        ends.requireFilledPieces(0, ends.seed, PIECES);
    }

    /**
     * Our first PSN is random: connections are made until one has one that wraps with these
     * requests.
     */
    private static void wrapRequested(LinuxEnds ends) throws IOException {
        int size = 200_000;
        int packets = 3 * ((size + 255) / 256);
        ends.wrapWithin = packets;
        ends.connect();
        ends.fill(0, size, ends.seed);
        ends.submit(Verb.WRITE, 0, ends.half(), size);
        ends.submit(Verb.READ, size, ends.half(), size);
        ends.submit(Verb.WRITE, 0, ends.half() + size, size);
        for (int i = 0; i < 3; i++) {
            ends.awaitTask(Status.SUCCESS);
        }
        ends.peer.requireFilled(ends.half(), size, ends.seed);
        ends.requireFilled(size, size, ends.seed);
        ends.peer.requireFilled(ends.half() + size, size, ends.seed);
    }

    /** The peer's first PSN is {@link LinuxEnds#PSN}. */
    private static void wrapServed(LinuxEnds ends) throws IOException {
        ends.connect();
        ends.peer.fill(0, SIZE, ends.seed);
        ends.postLater(Verb.WRITE, 0, ends.half(), 100); // with the PSN 0xfffffe
        ends.postLater(Verb.WRITE, 0, ends.half(), SIZE);
        ends.postLater(Verb.READ, PLACE, ends.half(), SIZE);
        ends.post(Verb.WRITE, 0, ends.half() + PLACE, SIZE);
        for (int i = 0; i < 4; i++) {
            ends.peer.expectCompletion(LinuxPeer.SUCCESS);
        }
        ends.requireFilled(ends.half(), SIZE, ends.seed);
        ends.peer.requireFilled(PLACE, SIZE, ends.seed);
        ends.requireFilled(ends.half() + PLACE, SIZE, ends.seed);
    }

    /**
     * The last packet that the peer has executed is that of our request, and its answer to a
     * keep-alive has the PSN of that. Before the first packet of the peer there is no keep-alive.
     */
    private static void idle(LinuxEnds ends, Verb before) throws IOException {
        ends.connect();
        ends.peer.ask("put " + ends.half() + " 41");
        if (before != null) {
            ends.submit(before, 0, ends.half(), 8);
            ends.awaitTask(Status.SUCCESS);
        }
        pause(ends, before != null);
        finish(ends);
        LinuxPeer.equal(
                "value",
                before == Verb.FETCH_ADD ? 46 : before == Verb.WRITE ? 0 : 41,
                ends.peer.number("get " + ends.half()));
    }

    /** The peer has executed nothing, so its answer to a keep-alive has the PSN 0xffffff. */
    private static void idleServed(LinuxEnds ends) throws IOException {
        ends.connect();
        ends.peer.fill(0, SIZE, ends.seed);
        ends.post(Verb.WRITE, 0, ends.half(), SIZE);
        ends.peer.expectCompletion(LinuxPeer.SUCCESS);
        pause(ends, true);
        finish(ends);
        ends.requireFilled(ends.half(), SIZE, ends.seed);
    }

    private static void pause(LinuxEnds ends, boolean asked) {
        long sent = ends.count("packets_sent");
        long received = ends.count("packets_received");
        ends.progressFor(PAUSE);
        long questions = ends.count("packets_sent") - sent;
        long answers = ends.count("packets_received") - received;
        if (asked ? questions < 2 || answers < 2 : questions + answers > 0) {
            throw new IllegalStateException(
                    "keep-alives: sent="
                            + questions
                            + ", received="
                            + answers
                            + ", expected="
                            + (asked ? "2 at least" : "0"));
        }
    }

    /** Requests both ways, which a connection that has failed does not execute. */
    private static void finish(LinuxEnds ends) throws IOException {
        int at = 2 * PLACE;
        ends.fill(at, SIZE, ends.seed);
        ends.submit(Verb.WRITE, at, ends.half() + at, SIZE);
        ends.awaitTask(Status.SUCCESS);
        ends.peer.requireFilled(ends.half() + at, SIZE, ends.seed);
        ends.post(Verb.WRITE, ends.half() + at, ends.half() + at, SIZE);
        ends.peer.expectCompletion(LinuxPeer.SUCCESS);
        ends.requireFilled(ends.half() + at, SIZE, ends.seed);
    }
}
