package io.softdpu.fabric.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Rings whose peer changes every word of the descriptors as fast as it can while one side decodes.
 * The values of a message must be constant from the check to the release, and within the limits.
 */
class DoubleFetchTest {
    private static final int SLOTS = 8;
    private static final int MAX_PAYLOAD = 100;
    private static final long CAPACITY = 100;
    private static final int ROUNDS = 512;
    private static final MessageRing.Geometry MESSAGES =
            new MessageRing.Geometry(SLOTS, MAX_PAYLOAD);
    private static final FastPathRing.Geometry FAST = new FastPathRing.Geometry(SLOTS);
    private static final long FAST_SLOTS = 1024 + SLOTS * 16;

    private final MemorySegment messages = Arena.ofAuto().allocate(MESSAGES.sizeBytes(), 64);
    private final MemorySegment fast = Arena.ofAuto().allocate(FAST.sizeBytes(), 64);
    private final MemorySegment copy = MemorySegment.ofArray(new byte[MAX_PAYLOAD + 64]);
    private final AtomicLong flips = new AtomicLong();
    private volatile boolean stop;
    private long used;
    private long refused;

    @Tag(Soak.TAG)
    @Test
    void shouldUseNoValueThatItHasNotChecked(SeededRandom random) throws Exception {
        Duration duration =
                Soak.duration(
                        Duration.ofMillis(300), Duration.ofSeconds(5), Duration.ofSeconds(60));
        long begin = System.nanoTime();
        List<Throwable> failures = new ArrayList<>();
        SeededRandom forFlips = random.fork();
        Thread flipper = new Thread(() -> flip(forFlips), "flipper");
        flipper.setUncaughtExceptionHandler((thread, e) -> failures.add(e));
        flipper.start();
        List<Runnable> ends =
                List.of(
                        this::receiveMessages,
                        this::sendMessages,
                        this::receiveOverTheFastPath,
                        this::sendOverTheFastPath);
        long[] usedOf = new long[4];
        long[] refusedOf = new long[4];
        try {
            // On a busy machine the two threads seldom meet: it goes on until they have.
            while (System.nanoTime() - begin < duration.toNanos()
                    || contains(usedOf, 0)
                    || contains(refusedOf, 0)) {
                assertThat(flipper.isAlive()).as("flips: %s", failures).isTrue();
                assertThat(System.nanoTime() - begin)
                        .as(
                                "nanoseconds: let through %s, refused %s",
                                Arrays.toString(usedOf), Arrays.toString(refusedOf))
                        .isLessThan(duration.plus(Patience.LIMIT).toNanos());
                for (int i = 0; i < ends.size(); i++) {
                    used = 0;
                    refused = 0;
                    ends.get(i).run();
                    usedOf[i] += used;
                    refusedOf[i] += refused;
                }
            }
        } finally {
            stop = true;
            flipper.join();
        }
        assertThat(failures).isEmpty();
        assertThat(flips.get()).isPositive();
        Soak.report(
                "double-fetch-rings",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "flips=%d, message-receiver=%d/%d, message-sender=%d/%d,"
                                + " fast-path-receiver=%d/%d, fast-path-sender=%d/%d",
                        flips.get(),
                        usedOf[0],
                        refusedOf[0],
                        usedOf[1],
                        refusedOf[1],
                        usedOf[2],
                        refusedOf[2],
                        usedOf[3],
                        refusedOf[3]));
    }

    private static boolean contains(long[] counts, long count) {
        return LongStream.of(counts).anyMatch(each -> each == count);
    }

    // ---- the peer ----

    /** Good and bad values by turns, so that what was good at the check is bad a moment later. */
    private void flip(SeededRandom random) {
        long count = 0;
        while (!stop) {
            long slot = random.nextInt(SLOTS);
            boolean good = random.chance(0.9);
            int length = good ? random.nextInt(MAX_PAYLOAD + 1) : random.nextInt();
            long at = 1024 + slot * MESSAGES.strideBytes();
            messages.set(ValueLayout.JAVA_INT, at, length);
            messages.set(ValueLayout.JAVA_INT, at + 4, random.nextInt());
            messages.set(ValueLayout.JAVA_LONG, at + 8, random.nextLong());
            long fastAt = FAST_SLOTS + slot * 128;
            fast.set(ValueLayout.JAVA_LONG, fastAt + 8, length);
            fast.set(
                    ValueLayout.JAVA_BYTE,
                    fastAt + 20,
                    (byte) (good ? random.nextInt(33) : random.nextInt()));
            fast.set(
                    ValueLayout.JAVA_BYTE,
                    fastAt + 21,
                    (byte) (good ? random.nextInt(4) : random.nextInt()));
            fast.set(ValueLayout.JAVA_INT, fastAt + 16, random.nextInt());
            long posting = 1024 + slot * 16;
            fast.set(ValueLayout.JAVA_LONG, posting, random.nextLong());
            fast.set(ValueLayout.JAVA_LONG, posting + 8, good ? CAPACITY : random.nextLong());
            if (random.chance(0.05)) {
                flipIndices(random);
            }
            count += 9;
            flips.setOpaque(count);
        }
    }

    private void flipIndices(SeededRandom random) {
        MemorySegment ring = random.nextBoolean() ? messages : fast;
        long value = random.chance(0.9) ? random.nextInt(ROUNDS) : random.nextLong();
        ring.set(ValueLayout.JAVA_LONG, 256, value);
        messages.set(
                ValueLayout.JAVA_LONG,
                1024 + random.nextInt(SLOTS) * MESSAGES.strideBytes() + 16,
                value);
        fast.set(ValueLayout.JAVA_LONG, FAST_SLOTS + random.nextInt(SLOTS) * 128, value);
        fast.set(ValueLayout.JAVA_INT, 640, random.chance(0.5) ? 1 : 0);
    }

    // ---- its victims: each on the test's thread, over new ends of the same memory ----

    private void receiveMessages() {
        MessageRing.Consumer victim = MessageRing.consumer(messages, MESSAGES);
        long index = 0;
        for (int round = 0; round < ROUNDS; round++) {
            messages.set(
                    ValueLayout.JAVA_LONG,
                    1024 + index % SLOTS * MESSAGES.strideBytes() + 16,
                    index + 1);
            long at = victim.poll();
            if (at == MessageRing.CORRUPT) {
                refused++;
                victim = MessageRing.consumer(messages, MESSAGES);
                index = 0;
                continue;
            }
            if (at == MessageRing.EMPTY) {
                continue;
            }
            int length = victim.length();
            int type = victim.type();
            long word = victim.word();
            requireWithin("message length", length, 0, MAX_PAYLOAD);
            copyOut(messages, at, length);
            requireSame("message length", length, victim.length());
            requireSame("message type", type, victim.type());
            requireSame("message word", word, victim.word());
            requireSame("message place", at, victim.poll());
            requireSame("message length, polled again", length, victim.length());
            victim.release();
            index++;
            used++;
        }
    }

    private void sendMessages() {
        MessageRing.Consumer owner = MessageRing.consumer(messages, MESSAGES);
        MessageRing.Producer victim = MessageRing.producer(messages, MESSAGES);
        long before = 0;
        for (int round = 0; round < ROUNDS; round++) {
            if (round % 4 == 0) { // what an honest owner would have released
                messages.set(ValueLayout.JAVA_LONG, 256, victim.produced());
            }
            long seen = victim.consumed();
            long at = victim.claim();
            if (victim.corrupt()) {
                refused++;
                owner = MessageRing.consumer(owner.segment(), MESSAGES);
                victim = MessageRing.producer(messages, MESSAGES);
                before = 0;
                continue;
            }
            requireWithin("released", seen, before, victim.produced());
            before = seen;
            if (at >= 0) {
                requireWithin("claim", at, 1024, MESSAGES.sizeBytes() - MAX_PAYLOAD);
                victim.commit(1, MAX_PAYLOAD, 2);
                used++;
            }
        }
    }

    private void receiveOverTheFastPath() {
        FastPathConsumer victim = FastPathRing.consumer(fast, FAST);
        long index = 0;
        for (int round = 0; round < ROUNDS; round++) {
            victim.post(0, CAPACITY);
            fast.set(ValueLayout.JAVA_LONG, FAST_SLOTS + index % SLOTS * 128, index + 1);
            int polled = victim.poll();
            if (polled < 0) {
                refused++;
                victim = FastPathRing.consumer(fast, FAST);
                index = 0;
            } else if (polled == 1) {
                checkCompletion(victim);
                victim.release();
                index++;
                used++;
            }
        }
    }

    private void checkCompletion(FastPathConsumer victim) {
        long length = victim.length();
        int immediate = victim.immediateLength();
        boolean inline = victim.isInline();
        boolean abandoned = victim.isAbandoned();
        int producer = victim.producerId();
        requireWithin("data length", length, 0, inline ? FastPathRing.INLINE_BYTES : CAPACITY);
        requireWithin("immediate length", immediate, 0, FastPathRing.IMMEDIATE_BYTES);
        if (inline) {
            copyOut(fast, victim.inlineOffset(), length);
        }
        copyOut(fast, victim.immediateOffset(), immediate);
        requireSame("data length", length, victim.length());
        requireSame("immediate length", immediate, victim.immediateLength());
        requireSame("inline", inline ? 1 : 0, victim.isInline() ? 1 : 0);
        requireSame("abandoned", abandoned ? 1 : 0, victim.isAbandoned() ? 1 : 0);
        requireSame("producer", producer, victim.producerId());
    }

    private void sendOverTheFastPath() {
        FastPathConsumer owner = FastPathRing.consumer(fast, FAST);
        FastPathProducer victim = FastPathRing.producer(fast, FAST);
        long next = 0;
        for (int round = 0; round < ROUNDS; round++) {
            fast.set(ValueLayout.JAVA_INT, 640, 0);
            fast.set(ValueLayout.JAVA_LONG, 256, next + 1 + round % SLOTS);
            long ticket = victim.claim(50);
            if (ticket >= 0) {
                requireSame("ticket", next, ticket);
                long at = victim.inlineOffset(ticket);
                requireWithin("slot", at, FAST_SLOTS, FAST.sizeBytes() - 104);
                victim.commit(ticket, 50, 1, 32, true);
                next++;
                used++;
            } else if (ticket == FastPathRing.CORRUPT) {
                refused++;
                owner = FastPathRing.consumer(owner.segment(), FAST);
                victim = FastPathRing.producer(fast, FAST);
                next = 0;
            }
        }
    }

    /** As the users of a ring copy: to private memory that has room for the largest. */
    private void copyOut(MemorySegment ring, long at, long length) {
        copy.set(ValueLayout.JAVA_LONG_UNALIGNED, MAX_PAYLOAD, 0x5a5a_5a5aL);
        MemorySegment.copy(ring, at, copy, 0, length);
        requireSame(
                "canary behind the copy",
                0x5a5a_5a5aL,
                copy.get(ValueLayout.JAVA_LONG_UNALIGNED, MAX_PAYLOAD));
    }

    private static void requireSame(String what, long checked, long later) {
        if (checked != later) {
            throw new AssertionError(
                    Text.format(
                            "changed after the check: %s, checked=%d, used=%d",
                            what, checked, later));
        }
    }

    private static void requireWithin(String what, long value, long least, long greatest) {
        if (value < least || value > greatest) {
            throw new AssertionError(
                    Text.format(
                            "used without a check: %s=%d, limits=%d to %d",
                            what, value, least, greatest));
        }
    }
}
