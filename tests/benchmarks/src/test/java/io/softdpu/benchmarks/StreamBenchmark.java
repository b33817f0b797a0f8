package io.softdpu.benchmarks;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchReceiveBuffer;
import io.softdpu.comch.ComchSendBuffer;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.comch.ComchServer;
import io.softdpu.comch.ComchStream;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.fabric.ring.FastPathRing;
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

/**
 * A message of 64 bytes over a stream, in the same batches as {@link ComchBenchmark}, whose
 * producer and consumer it is compared with: claim, send, progress of both engines, callback,
 * receive, and the buffer posted again.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class StreamBenchmark {
    private static final int BATCH = 32;
    private static final int BUFFERS = 64;
    private static final int BYTES = FastPathRing.INLINE_BYTES;
    private static final int ROUNDS_PER_POLL = 1 << 16;

    private final BothSides sides = new BothSides();
    private ProgressEngine hostEngine;
    private ProgressEngine dpuEngine;
    private ComchConnection client;
    private ComchStream sending;
    private int received;

    @Setup
    public void setUp() {
        Device pf0 = sides.keep(sides.machine(Side.HOST).findDevice("pf0").open());
        Device p0 = sides.keep(sides.machine(Side.DPU).findDevice("p0").open());
        hostEngine = sides.engine();
        dpuEngine = sides.engine();
        ComchServer server =
                ComchServer.create(p0, sides.keep(p0.findRepresentor("hpf0").open()), "benchmark");
        server.setConnectedCallback(arrived -> client = arrived);
        start(server, dpuEngine);
        ComchClient connecting = ComchClient.create(pf0, "benchmark");
        start(connecting, hostEngine);
        sides.until(() -> client != null && connecting.state() == ContextState.RUNNING);
        sending = stream(connecting.connection(), hostEngine).setSendBuffers(BATCH);
        ComchStream receiving =
                stream(client, dpuEngine)
                        .setReceiveBuffers(BUFFERS)
                        .setReadyCallback(this::receive);
        sending.start();
        receiving.start();
        sides.until(() ->
                sending.state() == ContextState.RUNNING
                        && receiving.state() == ContextState.RUNNING);
    }

    @TearDown
    public void tearDown() throws Exception {
        sides.close();
    }

    /** 32 are sent, then both engines make progress until all have arrived: a message each. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void sendAndReceive() {
        received = 0;
        int sent = 0;
        long deadline = 0;
        int rounds = 0;
        while (received < BATCH) {
            ComchSendBuffer buffer;
            while (sent < BATCH && (buffer = sending.tryClaim()) != null) {
                buffer.send(BYTES);
                sent++;
            }
            hostEngine.progress();
            dpuEngine.progress();
            if (++rounds % ROUNDS_PER_POLL == 0) { // a batch takes a few: the clock stays outside
                deadline = BothSides.requireInTime(deadline, this::late);
            }
        }
    }

    private String late() {
        return "messages do not arrive: received=" + received;
    }

    private void receive(ComchStream stream) {
        ComchReceiveBuffer buffer;
        while ((buffer = stream.tryReceive()) != null) {
            received++;
            buffer.close();
        }
    }

    private ComchStream stream(ComchConnection over, ProgressEngine engine) {
        ComchStream stream = ComchStream.create(over).setBufferBytes(BYTES);
        engine.connect(stream);
        sides.keep(() -> sides.stop(stream));
        return stream;
    }

    private void start(ComchEndpoint endpoint, ProgressEngine engine) {
        endpoint.setSendTasks(1, ComchSendTask::free, ComchSendTask::free);
        endpoint.setMessageCallback((_, _) -> {});
        endpoint.acceptStreams();
        engine.connect(endpoint);
        endpoint.start();
        sides.keep(() -> sides.stop(endpoint));
    }
}
