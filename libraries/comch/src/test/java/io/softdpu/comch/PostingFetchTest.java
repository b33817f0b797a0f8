package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Single read of posted offsets: while a producer claims posted buffers, a thread changes their
 * offsets as fast as it can. The producer writes only to checked offsets, or closes the connection;
 * if it read an offset twice, a copy outside the memory would throw.
 */
class PostingFetchTest {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final int MEMORY_BYTES = 8192;
    private static final int LENGTH = 1000;
    private static final int BUFFERS = 8;
    private static final FastPathRing.Geometry RING = new FastPathRing.Geometry(BUFFERS);

    /** Sends of one connection, which ends earlier if the producer reads an illegal offset. */
    private static final int SENDS = 64;

    @TempDir Path folder;
    private long used;
    private long refused;
    private long flips;
    private volatile boolean stop;

    @Tag(Soak.TAG)
    @Test
    void shouldWriteWhereItHasCheckedThatItMay(SeededRandom random) throws Exception {
        Duration duration =
                Soak.duration(Duration.ofSeconds(1), Duration.ofSeconds(5), Duration.ofSeconds(60));
        long begin = System.nanoTime();
        int connections = 0;
        // On a busy machine the two threads seldom meet: it goes on until they have.
        while (System.nanoTime() - begin < duration.toNanos()
                || used == 0
                || refused == 0
                || flips <= used) {
            assertThat(System.nanoTime() - begin)
                    .as("nanoseconds: let through %d, refused %d, flips %d", used, refused, flips)
                    .isLessThan(duration.plus(Patience.LIMIT).toNanos());
            Card card = new Card(folder.resolve("card" + connections++));
            try {
                runOneConnection(card, random.fork());
            } finally {
                card.close();
            }
        }
        Soak.report(
                "double-fetch-postings",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "connections=%d, flips=%d, used=%d, refused=%d",
                        connections, flips, used, refused));
    }

    private void runOneConnection(Card card, SeededRandom random) throws Exception {
        Card.Pair pair = card.pair();
        Queue.Receiving receiving =
                new Queue.Receiving(pair.server(), card.dpuEngine, MEMORY_BYTES, BUFFERS).run(card);
        Queue.Sending sending =
                new Queue.Sending(pair.client(), card.hostEngine, LENGTH, 1).run(card);
        int id = receiving.consumer.id();
        ComchConnection connection = pair.client().connection();
        MemorySegment ring =
                Objects.requireNonNull(connection.requireRegistry().find(id)).ring().segment();
        assertThat(ring.byteSize()).isEqualTo(RING.sizeBytes());
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        Thread flipper = new Thread(() -> flip(ring, random), "flipper");
        flipper.setUncaughtExceptionHandler((thread, e) -> failures.add(e));
        stop = false;
        flipper.start();
        try {
            boolean open = true;
            int posted = 0;
            for (int i = 0; i < SENDS && open; i++) {
                for (; posted < receiving.statuses.size() + BUFFERS; posted++) {
                    assertThat(receiving.post(0, LENGTH)).isEqualTo(Status.SUCCESS);
                }
                open = sendOne(card, connection, sending, id);
            }
        } finally {
            stop = true;
            assertThat(flipper.join(Patience.DEADLINE)).as("flipper ended").isTrue();
        }
        assertThat(failures).isEmpty();
    }

    /** False if the connection is closed by it. */
    private boolean sendOne(Card card, ComchConnection connection, Queue.Sending sending, int id) {
        int ended = sending.statuses.size();
        Status submitted = sending.send(id, new byte[LENGTH], new byte[0]);
        if (submitted == Status.CONNECTION_RESET) {
            card.until("broken", () -> connection.failure() != null);
            assertThat(connection.failure())
                    .hasMessageContaining("illegal posting")
                    .hasMessageContaining("posting outside the memory: offsetBytes=");
            refused++;
            return false;
        }
        assertThat(submitted).isEqualTo(Status.SUCCESS);
        card.until("sent", () -> sending.statuses.size() > ended);
        assertThat(sending.statuses.getLast()).isEqualTo(Status.SUCCESS);
        used++;
        return true;
    }

    /** Legal offsets four times, then a round of illegal ones. */
    private void flip(MemorySegment ring, SeededRandom random) {
        long count = 0;
        while (!stop) {
            long bad =
                    random.oneOf(
                            MEMORY_BYTES - LENGTH + 1L,
                            (long) MEMORY_BYTES,
                            -1L,
                            Long.MIN_VALUE,
                            Long.MAX_VALUE);
            for (int i = 0; i < 5 * BUFFERS; i++) {
                long offset = i < 4 * BUFFERS ? random.nextInt(MEMORY_BYTES - LENGTH + 1) : bad;
                LONG.setRelease(ring, RING.postingOffset(i % BUFFERS), offset);
            }
            count += 5 * BUFFERS;
        }
        for (int i = 0; i < BUFFERS; i++) {
            LONG.setRelease(ring, RING.postingOffset(i), 0L);
        }
        flips += count;
    }
}
