package io.softdpu.benchmarks;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchPeer;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
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

/**
 * The basic path: a message of 64 bytes from client to server by a send task, with the progress of
 * both engines and both callbacks; and the credentials of a connection's peer.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ComchBasicBenchmark {
    private static final int BYTES = 64;
    private static final int TASKS = 2;
    private static final int ROUNDS_PER_POLL = 1 << 16;

    private final BothSides sides = new BothSides();
    private final MemorySegment message = MemorySegment.ofArray(new byte[BYTES]);
    private ProgressEngine hostEngine;
    private ProgressEngine dpuEngine;
    private ComchConnection connection;
    private ComchSendTask task;
    private boolean accepted;
    private boolean sent;
    private boolean received;

    @Setup
    public void setUp() {
        Machine host = sides.machine(Side.HOST);
        Machine dpu = sides.machine(Side.DPU);
        Device pf0 = sides.keep(host.findDevice("pf0").open());
        Device p0 = sides.keep(dpu.findDevice("p0").open());
        hostEngine = sides.engine();
        dpuEngine = sides.engine();
        ComchServer server =
                ComchServer.create(p0, sides.keep(p0.findRepresentor("hpf0").open()), "benchmark");
        server.setConnectedCallback(_ -> accepted = true);
        start(server, dpuEngine);
        ComchClient client = ComchClient.create(pf0, "benchmark");
        start(client, hostEngine);
        sides.until(() -> accepted && client.state() == ContextState.RUNNING);
        connection = client.connection();
        task = client.allocateSendTask(connection).setMessage(message, 0, BYTES);
        sides.keep(task::free);
    }

    @TearDown
    public void tearDown() throws Exception {
        sides.close();
    }

    /** From the submission until the message was received and the task has completed. */
    @Benchmark
    public void submitAndComplete() {
        sent = false;
        received = false;
        Status status = task.trySubmit();
        if (status != Status.SUCCESS) {
            throw new IllegalStateException("not submitted: status=" + status);
        }
        long deadline = 0;
        int rounds = 0;
        while (!sent || !received) {
            hostEngine.progress();
            dpuEngine.progress();
            if (++rounds % ROUNDS_PER_POLL == 0) { // the clock stays outside
                deadline = BothSides.requireInTime(deadline, this::late);
            }
        }
    }

    /** What an access check reads. */
    @Benchmark
    public long peer() {
        ComchPeer peer = connection.peer();
        return peer.pid() + peer.uid();
    }

    private String late() {
        return "message does not arrive: sent=" + sent + ", received=" + received;
    }

    private void start(ComchEndpoint endpoint, ProgressEngine engine) {
        endpoint.setSendTasks(TASKS, _ -> sent = true, ComchBasicBenchmark::failed);
        endpoint.setMessageCallback((_, _) -> received = true);
        engine.connect(endpoint);
        endpoint.start();
        sides.keep(() -> sides.stop(endpoint));
    }

    private static void failed(ComchSendTask task) {
        throw new IllegalStateException("message was not sent: status=" + task.status());
    }
}
