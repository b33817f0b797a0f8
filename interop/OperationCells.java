import io.softdpu.core.Status;

import java.io.IOException;
import java.util.List;
import java.util.SequencedMap;

/** Cells of one operation each. */
final class OperationCells {
    private static final int GUARD = 64; // bytes behind a destination, which nothing may write
    private static final List<Verb> TRANSFERS = List.of(Verb.WRITE, Verb.READ, Verb.SEND);

    private OperationCells() {}

    static void runAll(LinuxCells cells, int mtu, int... sizes) {
        for (Verb each : Verb.values()) {
            if (each.isAtomic()) {
                cells.cell(
                        text(each, 8) + ", we request", mtu, ends -> requestedAtomic(ends, each));
                cells.cell(
                        text(each, 8) + ", Linux requests", mtu, ends -> servedAtomic(ends, each));
            } else {
                for (int size : sizes) {
                    cells.cell(
                            text(each, size) + ", we request",
                            mtu,
                            ends -> requested(ends, each, size));
                    cells.cell(
                            text(each, size) + ", Linux requests",
                            mtu,
                            ends -> served(ends, each, size));
                }
            }
        }
    }

    static void runLarge(LinuxCells cells, int size) {
        int memory = 2 * (size + GUARD);
        for (Verb each : TRANSFERS) {
            cells.cell(
                    text(each, size) + ", we request",
                    4096,
                    memory,
                    ends -> requested(ends, each, size));
            cells.cell(
                    text(each, size) + ", Linux requests",
                    4096,
                    memory,
                    ends -> served(ends, each, size));
        }
    }

    /** Each of our packets may be lost, sent twice or sent later, by the options of the process. */
    static void runImpaired(LinuxCells cells, int size) {
        int memory = 2 * (size + GUARD);
        for (Verb each : TRANSFERS) {
            cells.cell(
                    text(each, size) + ", impaired, we request",
                    4096,
                    memory,
                    ends -> {
                        requested(ends, each, size);
                        requireImpaired(ends, each != Verb.READ);
                    });
            cells.cell(
                    text(each, size) + ", impaired, Linux requests",
                    4096,
                    memory,
                    ends -> {
                        served(ends, each, size);
                        requireImpaired(ends, each == Verb.READ);
                    });
        }
    }

    /** Checks that packets of ours were impaired; acknowledgements without payload may be too few. */
    private static void requireImpaired(LinuxEnds ends, boolean payload) {
        SequencedMap<String, Long> counts = ends.deviceCounts();
        for (String kind : List.of("impair_lost", "impair_duplicated", "impair_reordered")) {
            if (counts.get(kind) < (payload ? 1 : 0)) {
                throw new IllegalStateException(
                        "nothing was impaired: counter=" + kind + ", counts=" + counts);
            }
        }
        if (payload && ends.count("retransmissions") == 0 && ends.count("duplicates") == 0) {
            throw new IllegalStateException("nothing was sent again: counts=" + counts);
        }
    }

    private static String text(Verb verb, int size) {
        return verb + ", sizeBytes=" + size;
    }

    /** Our request, of the peer's memory or for its receive. */
    private static void requested(LinuxEnds ends, Verb verb, int size) throws IOException {
        ends.connect();
        LinuxPeer peer = ends.peer;
        long half = ends.half();
        boolean read = verb == Verb.READ;
        if (verb.needsReceive()) {
            peer.ask("receive " + half + " " + size);
        }
        if (read) {
            peer.fill(half, size, ends.seed);
            ends.fill(half + size, GUARD, ends.seed + 1);
        } else {
            ends.fill(0, size, ends.seed);
            peer.fill(half + size, GUARD, ends.seed + 1);
        }
        ends.submit(verb, read ? half : 0, half, size);
        ends.awaitTask(Status.SUCCESS);
        if (read) {
            ends.requireFilled(half, size, ends.seed);
            ends.requireFilled(half + size, GUARD, ends.seed + 1);
            return;
        }
        if (verb.needsReceive()) {
            peer.expectCompletion(
                    LinuxPeer.SUCCESS, size, verb.hasImmediate() ? LinuxEnds.IMMEDIATE : 0);
        }
        peer.requireFilled(half, size, ends.seed);
        peer.requireFilled(half + size, GUARD, ends.seed + 1);
    }

    private static void requestedAtomic(LinuxEnds ends, Verb verb) throws IOException {
        ends.connect();
        long half = ends.half();
        ends.peer.ask("put " + half + " 41");
        ends.submit(verb, 0, half, 8);
        ends.awaitTask(Status.SUCCESS);
        LinuxPeer.equal("value before", 41, ends.word(0));
        LinuxPeer.equal("value", verb == Verb.CMP_SWAP ? 42 : 46, ends.peer.number("get " + half));
    }

    /** A request of the peer, of our memory or for our receive. */
    private static void served(LinuxEnds ends, Verb verb, int size) throws IOException {
        ends.connect();
        LinuxPeer peer = ends.peer;
        long half = ends.half();
        boolean read = verb == Verb.READ;
        if (verb.needsReceive()) {
            ends.receive(half, size);
        }
        if (read) {
            ends.fill(half, size, ends.seed);
            peer.fill(half + size, GUARD, ends.seed + 1);
        } else {
            peer.fill(0, size, ends.seed);
            ends.fill(half + size, GUARD, ends.seed + 1);
        }
        ends.post(verb, read ? half : 0, half, size);
        peer.expectCompletion(LinuxPeer.SUCCESS);
        if (read) {
            peer.requireFilled(half, size, ends.seed);
            peer.requireFilled(half + size, GUARD, ends.seed + 1);
            return;
        }
        if (verb.needsReceive()) {
            ends.awaitTask(Status.SUCCESS);
            LinuxPeer.equal("length", size, ends.receivedBytes);
            LinuxPeer.equal(
                    "immediate",
                    verb.hasImmediate() ? LinuxEnds.IMMEDIATE : 0,
                    ends.receivedImmediate);
        }
        ends.requireFilled(half, size, ends.seed);
        ends.requireFilled(half + size, GUARD, ends.seed + 1);
    }

    private static void servedAtomic(LinuxEnds ends, Verb verb) throws IOException {
        ends.connect();
        long half = ends.half();
        ends.setWord(half, 41);
        ends.peer.ask("put 0 0");
        ends.post(verb, 0, half, 8);
        ends.peer.expectCompletion(LinuxPeer.SUCCESS);
        LinuxPeer.equal("value before", 41, ends.peer.number("get 0"));
        LinuxPeer.equal("value", verb == Verb.CMP_SWAP ? 42 : 46, ends.word(half));
    }
}
