package io.softdpu.benchmarks;

import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Icrc;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** ICRC of a packet in direct memory, headers included. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RoceIcrcBenchmark {
    /** Size of the payload. */
    @Param({"64", "4096"})
    public int bytes;

    @Param({"ipv4", "ipv6"})
    public String version;

    private final ByteBuffer view = ByteBuffer.allocateDirect(Headers.MAX_PACKET_BYTES);
    private final MemorySegment memory = MemorySegment.ofBuffer(view);
    private final Packet packet = new Packet();
    private Icrc icrc;
    private int received;

    @Setup
    public void setUp() {
        int size = Headers.BTH_BYTES + bytes + Headers.ICRC_BYTES;
        Headers.writeBth(memory, 0, Opcode.SEND_ONLY, 0, 0, 0x11, true, 0x22);
        if (packet.wrap(memory, 0, size) != null) {
            throw new IllegalStateException("no packet");
        }
        boolean ipv4 = version.equals("ipv4");
        icrc = ipv4 ? Icrc.ipv4() : Icrc.ipv6();
        icrc.setAddresses(new byte[ipv4 ? 4 : 16], new byte[ipv4 ? 4 : 16]);
        icrc.setSourcePort(50_000);
        icrc.setIdentification(0x1234, true);
        received = icrc.of(packet, view);
        icrc.setIdentification(0, true);
    }

    /** As of a packet whose identification is known. */
    @Benchmark
    public int compute() {
        return icrc.of(packet, view);
    }

    /** As of a packet of Linux over IPv4, whose identification is solved for. */
    @Benchmark
    public int computeAndSolve() {
        icrc.of(packet, view);
        return icrc.identification(received);
    }
}
