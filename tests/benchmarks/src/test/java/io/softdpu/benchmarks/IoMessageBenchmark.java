package io.softdpu.benchmarks;

import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.wire.IoType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** An io_message in shared memory: written, and read field by field as the roles do. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class IoMessageBenchmark {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(IoMessageView.WIRE_BYTES, 64);
    private long offset;

    @Setup
    public void setUp() {
        encode();
    }

    @TearDown
    public void tearDown() {
        arena.close();
    }

    @Benchmark
    public void encode() {
        offset += 4096;
        IoMessageView.write(memory, 0, IoType.READ.code(), 7, 0, 4096, offset, offset);
    }

    /** What the target reads of a request. */
    @Benchmark
    public void decodeInPlace(Blackhole blackhole) {
        blackhole.consume(IoMessageView.type(memory, 0));
        blackhole.consume(IoMessageView.userData(memory, 0));
        blackhole.consume(IoMessageView.ioSizeBytes(memory, 0));
        blackhole.consume(IoMessageView.requesterOffset(memory, 0));
        blackhole.consume(IoMessageView.storageOffset(memory, 0));
    }
}
