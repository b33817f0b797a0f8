package io.softdpu.benchmarks;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.comch.ComchProducer;
import io.softdpu.comch.ComchProducerSendTask;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.fabric.ring.FastPathRing;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A message of 64 bytes from a producer to a consumer, through all layers: task, progress of both
 * engines, both callbacks, and the buffer posted again. What it costs more than {@link
 * RingBenchmark} is the layers' own.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ComchBenchmark {
    private static final int BATCH = 32;
    private static final int BUFFERS = 64;
    private static final int BYTES = FastPathRing.INLINE_BYTES;
    private static final int ROUNDS_PER_POLL = 1 << 16;

    /** Submissions and callbacks: of each message, or of several at a time. */
    @Param({"each", "several"})
    private String tasks;

    private final BothSides sides = new BothSides();
    private ProgressEngine hostEngine;
    private ProgressEngine dpuEngine;
    private ComchConnection client;
    private int remoteConsumer;
    private final ComchProducerSendTask[] sends = new ComchProducerSendTask[BATCH];
    private ComchProducer producer;
    private boolean several;
    private int received;
    private int sent;

    @Setup
    public void setUp() {
        several = tasks.equals("several");
        Machine host = sides.machine(Side.HOST);
        Machine dpu = sides.machine(Side.DPU);
        Device pf0 = sides.keep(host.findDevice("pf0").open());
        Device p0 = sides.keep(dpu.findDevice("p0").open());
        hostEngine = sides.engine();
        dpuEngine = sides.engine();
        ComchServer server =
                ComchServer.create(p0, sides.keep(p0.findRepresentor("hpf0").open()), "benchmark");
        server.setConnectedCallback(arrived -> client = arrived);
        start(server, dpuEngine);
        ComchClient connecting = ComchClient.create(pf0, "benchmark");
        start(connecting, hostEngine);
        sides.until(() -> client != null && connecting.state() == ContextState.RUNNING);
        consume(p0);
        sides.until(() -> remoteConsumer != 0);
        produce(pf0, connecting.connection());
    }

    @TearDown
    public void tearDown() throws Exception {
        sides.close();
    }

    /** 32 are submitted, then both engines make progress until all are complete: a message each. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void submitAndComplete() {
        received = 0;
        sent = 0;
        if (several) {
            int submitted = producer.trySubmitAll(sends, 0, BATCH);
            if (submitted != BATCH) {
                throw new IllegalStateException("not submitted: from=" + submitted);
            }
        } else {
            for (ComchProducerSendTask send : sends) {
                Status status = send.trySubmit();
                if (status != Status.SUCCESS) {
                    throw new IllegalStateException("not submitted: status=" + status);
                }
            }
        }
        long deadline = 0;
        int rounds = 0;
        while (sent < BATCH || received < BATCH) {
            hostEngine.progress();
            dpuEngine.progress();
            if (++rounds % ROUNDS_PER_POLL == 0) { // a batch takes a few: the clock stays outside
                deadline = BothSides.requireInTime(deadline, this::late);
            }
        }
    }

    private String late() {
        return "messages do not arrive: sent=" + sent + ", received=" + received;
    }

    private static void failed(ComchProducerSendTask task) {
        throw new IllegalStateException("message was not sent: status=" + task.status());
    }

    private void start(ComchEndpoint endpoint, ProgressEngine engine) {
        endpoint.setSendTasks(1, ComchSendTask::free, ComchSendTask::free);
        endpoint.setMessageCallback((_, _) -> {});
        endpoint.setConsumerCallbacks((_, id) -> remoteConsumer = id, (_, _) -> {});
        engine.connect(endpoint);
        endpoint.start();
        sides.keep(() -> sides.stop(endpoint));
    }

    private void consume(Device device) {
        Memory memory = memory(device, BUFFERS);
        ComchConsumer consumer = ComchConsumer.create(client, memory.mmap());
        if (several) {
            consumer.setPostReceiveTasks(
                    BUFFERS, (tasks, count) -> received(consumer, tasks, count));
        } else {
            consumer.setPostReceiveTasks(BUFFERS, this::received, ComchPostReceiveTask::free);
        }
        dpuEngine.connect(consumer);
        consumer.start();
        sides.keep(() -> sides.stop(consumer));
        sides.until(() -> consumer.state() == ContextState.RUNNING);
        for (int i = 0; i < BUFFERS; i++) {
            consumer.allocatePostReceiveTask(memory.buf(i)).submit();
        }
    }

    private void received(ComchPostReceiveTask task) {
        received++;
        task.buf().resetDataLength();
        if (task.trySubmit() != Status.SUCCESS) {
            task.free();
        }
    }

    private void received(ComchConsumer consumer, ComchPostReceiveTask[] tasks, int count) {
        received += count;
        for (int i = 0; i < count; i++) {
            tasks[i].buf().resetDataLength();
        }
        for (int i = consumer.trySubmitAll(tasks, 0, count); i < count; i++) {
            tasks[i].free();
        }
    }

    private void produce(Device device, ComchConnection over) {
        Memory memory = memory(device, BATCH);
        producer = ComchProducer.create(over);
        if (several) {
            producer.setSendTasks(BATCH, (_, count) -> sent += count);
        } else {
            producer.setSendTasks(BATCH, _ -> sent++, ComchBenchmark::failed);
        }
        hostEngine.connect(producer);
        producer.start();
        sides.keep(() -> {
            for (ComchProducerSendTask send : sends) {
                send.free();
            }
            sides.stop(producer);
        });
        sides.until(() -> producer.state() == ContextState.RUNNING);
        for (int i = 0; i < BATCH; i++) {
            memory.buf(i).setData(memory.buf(i).offset(), BYTES);
            sends[i] = producer.allocateSendTask(memory.buf(i), remoteConsumer);
        }
    }

    private record Memory(Mmap mmap, Buf[] bufs) {
        Buf buf(int message) {
            return bufs[message];
        }
    }

    /** All of it is given back after what uses it has stopped: an mmap with bufs does not close. */
    private Memory memory(Device device, int messages) {
        SharedMemory memory = sides.keep(SharedMemory.allocate((long) messages * BYTES));
        Mmap mmap = sides.keep(Mmap.create());
        mmap.setMemory(memory)
                .setPermissions(
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                .addDevice(device)
                .start();
        BufInventory inventory = sides.keep(BufInventory.create(messages));
        inventory.start();
        Buf[] bufs = new Buf[messages];
        for (int i = 0; i < messages; i++) {
            Buf buf = inventory.bufByAddress(mmap, (long) i * BYTES, BYTES);
            bufs[i] = buf;
            sides.keep(buf);
        }
        return new Memory(mmap, bufs);
    }
}
