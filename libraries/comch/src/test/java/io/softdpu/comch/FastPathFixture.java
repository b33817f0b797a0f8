package io.softdpu.comch;

import io.softdpu.core.execution.ProgressEngine;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A server with one client, and the producers and consumers of both. */
abstract class FastPathFixture {
    static final byte[] NOTHING = {};
    static final int MIB = 1 << 20;

    @TempDir Path folder;
    Card card;
    Card.Pair pair;

    @BeforeEach
    void open() {
        card = new Card(folder);
        pair = card.pair();
    }

    @AfterEach
    void close() throws Exception {
        card.close();
    }

    Queue.Receiving receiving(Peer peer, long sizeBytes, int tasks) {
        return new Queue.Receiving(peer, engineOf(peer), sizeBytes, tasks).run(card);
    }

    Queue.Sending sending(Peer peer, long sizeBytes, int tasks) {
        return new Queue.Sending(peer, engineOf(peer), sizeBytes, tasks).run(card);
    }

    private ProgressEngine engineOf(Peer peer) {
        return peer.endpoint instanceof ComchServer ? card.dpuEngine : card.hostEngine;
    }

    static byte[] pattern(int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) (i % 251 + 1); // no period that divides a slice, and no zeros
        }
        return bytes;
    }
}
