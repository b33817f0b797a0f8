package io.softdpu.benchmarks;

import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** A message of 64 bytes through the raw ring of the fast path, and the buffer posted again. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RingBenchmark {
    private static final int SLOTS = 64;
    private static final int BATCH = 32;
    private static final int BYTES = FastPathRing.INLINE_BYTES;

    private final Arena arena = Arena.ofShared();
    private final FastPathRing.Geometry geometry = new FastPathRing.Geometry(SLOTS);
    private final MemorySegment memory = arena.allocate(geometry.sizeBytes(), 128);
    private final MemorySegment source = arena.allocate(BYTES, 64);
    private final MemorySegment destination = arena.allocate((long) SLOTS * BYTES, 64);
    private final FastPathConsumer consumer = FastPathRing.consumer(memory, geometry);
    private final FastPathProducer producer = FastPathRing.producer(memory, geometry);

    @Setup
    public void setUp() {
        for (int i = 0; i < SLOTS; i++) {
            consumer.post((long) i * BYTES, BYTES);
        }
    }

    @TearDown
    public void tearDown() {
        arena.close();
    }

    /** 32 are offered, then 32 polled: a message each. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void offerAndPoll() {
        for (int i = 0; i < BATCH; i++) {
            long ticket = producer.claim(BYTES);
            if (ticket < 0) {
                throw new IllegalStateException("no buffer: ticket=" + ticket);
            }
            MemorySegment.copy(source, 0, memory, producer.inlineOffset(ticket), BYTES);
            producer.commit(ticket, BYTES, 1, 0, true);
        }
        if (producer.peerArmed()) {
            throw new IllegalStateException("no side sleeps here");
        }
        for (int i = 0; i < BATCH; i++) {
            if (consumer.poll() != 1) {
                throw new IllegalStateException("nothing there");
            }
            long at = (long) i * BYTES;
            MemorySegment.copy(memory, consumer.inlineOffset(), destination, at, BYTES);
            consumer.release();
            consumer.post(at, BYTES);
        }
    }
}
