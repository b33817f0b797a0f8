package io.softdpu.storage;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.storage.control.ChannelEnd;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.control.TcpListener;
import io.softdpu.storage.control.TcpServerControlChannel;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.storage.worker.MessageMemory;
import io.softdpu.storage.worker.RdmaPair;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Target whose io_messages a test answers: correct otherwise, and without an understanding of
 * these. Runs on one thread.
 */
public final class ScriptedTarget implements AutoCloseable {
    private static final Duration LOOK = Duration.ofMillis(1);
    private static final int SLOTS = 8;

    private final Machine machine;
    private final TcpListener listener = TcpListener.open(ChannelEnd.ANY_PORT);
    private final CompletableFuture<TcpServerControlChannel> open = new CompletableFuture<>();
    private final Thread thread;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final BlockingQueue<byte[]> requests = new LinkedBlockingQueue<>();
    private final Queue<byte[]> answers = new ConcurrentLinkedQueue<>();
    private ProgressEngine engine;
    private TcpServerControlChannel channel;
    private Device device;
    private @Nullable MessageMemory messages;
    private @Nullable RdmaPair rdma;
    private final Queue<Runnable> actions = new ConcurrentLinkedQueue<>();
    private final Map<RdmaConnectionRole, Blob> unconnected =
            new EnumMap<>(RdmaConnectionRole.class);
    private volatile Set<RdmaConnectionRole> connects = EnumSet.allOf(RdmaConnectionRole.class);
    private @Nullable Blob export;
    private boolean transferring;
    private volatile boolean started;
    private int sent;

    public ScriptedTarget(Path folder) {
        machine = Machine.builder(Side.TARGET).fabricFolder(folder).open();
        thread = new Thread(this::run, "scripted-target");
        thread.start();
    }

    /** Where a service finds it. */
    public int port() {
        return listener.address().getPort();
    }

    /** Has it answer requests for these connections without connecting anything. */
    public ScriptedTarget without(Set<RdmaConnectionRole> roles) {
        connects = EnumSet.complementOf(EnumSet.copyOf(roles));
        return this;
    }

    /** Connects what it has not connected yet. */
    public void connectTheRest() {
        actions.add(() -> unconnected.forEach((role, details) -> rdma.connect(role, details)));
    }

    /** Whether it was asked to start, and has answered. */
    public boolean isStarted() {
        return started;
    }

    /** Waits for an io_message that has come and was not asked for here yet. */
    public byte[] awaitRequest() throws InterruptedException {
        byte[] request = requests.poll(Patience.SECONDS, TimeUnit.SECONDS);
        if (request == null) {
            throw new AssertionError("no request in time");
        }
        return request;
    }

    /** How many io_messages have come beside those that were asked for. */
    public int waitingRequests() {
        return requests.size();
    }

    /** Keeps its thread from all work until the latch is counted down. */
    public CountDownLatch hold() {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        actions.add(() -> {
            held.countDown();
            Pipeline.await(release);
        });
        Pipeline.await(held);
        return release;
    }

    /** Writes 64 bytes to the beginning of the initiator's memory, by one of the connections. */
    public void write(RdmaConnectionRole role, byte[] message) {
        transfer(role, true, message);
    }

    /** Reads the 64 bytes at the beginning of the initiator's memory, by one of the connections. */
    public byte[] read(RdmaConnectionRole role) {
        return transfer(role, false, new byte[IoMessageView.WIRE_BYTES]);
    }

    private byte[] transfer(RdmaConnectionRole role, boolean write, byte[] bytes) {
        return Pipeline.await(
                CompletableFuture.supplyAsync(
                        () -> transferHere(rdma.connection(role), write, bytes), actions::add));
    }

    /** Sends an io_message as soon as the data path has begun, asked for or not. */
    public void answer(byte[] message) {
        answers.add(message.clone());
    }

    @Override
    public void close() throws Exception {
        open.join().abort("test ends");
        Pipeline.join(thread);
        ended.get(0, TimeUnit.SECONDS); // what it failed with is thrown
        machine.close();
    }

    private void run() {
        try {
            device = machine.findDevice("t0").open();
            engine = ProgressEngine.create();
            channel = ControlChannels.makeTcpServer(engine, listener, Patience.LIMIT);
            open.complete(channel);
            try {
                channel.awaitConnected(Deadline.NO_LIMIT);
                serve();
            } catch (DpuException e) {
                // The service has gone, or the test is over.
            }
            tearDown();
            ended.complete(null);
        } catch (Throwable e) {
            open.completeExceptionally(e);
            ended.completeExceptionally(e);
        }
    }

    private void serve() {
        while (true) {
            ControlMessage request = channel.poll();
            if (request == null) {
                sendAnswers();
                runActions();
                engine.await(LOOK);
                continue;
            }
            if (request.payload() instanceof ControlPayload.ErrorResponse) {
                return; // the reason of the service's end
            }
            channel.send(request.reply(handle(request.payload())));
            started |= request.payload() instanceof ControlPayload.StartStorageRequest;
            if (request.payload() instanceof ControlPayload.ShutdownRequest) {
                channel.flush(Patience.LIMIT);
                return; // the service waits for the end of the connection
            }
        }
    }

    private ControlPayload handle(ControlPayload request) {
        return switch (request) {
            case ControlPayload.QueryStorageRequest _ ->
                    new ControlPayload.QueryStorageResponse(16 << 10, 4096);
            case ControlPayload.InitStorageRequest init -> {
                export = init.mmapExport();
                createObjects();
                yield new ControlPayload.InitStorageResponse();
            }
            case ControlPayload.CreateRdmaConnectionRequest create -> {
                Blob local = rdma.export(create.role());
                if (connects.contains(create.role())) {
                    rdma.connect(create.role(), create.connectionDetails());
                } else {
                    unconnected.put(create.role(), create.connectionDetails());
                }
                yield new ControlPayload.CreateRdmaConnectionResponse(
                        create.contextIndex(), create.role(), local);
            }
            case ControlPayload.StartStorageRequest _ -> {
                for (RdmaConnectionRole role : RdmaConnectionRole.values()) {
                    while (rdma.context(role).state() != ContextState.RUNNING) {
                        engine.await(Patience.LIMIT);
                    }
                }
                for (int i = 0; i < SLOTS; i++) {
                    rdma.context(RdmaConnectionRole.IO_CONTROL)
                            .allocateReceive(messages.buf(i))
                            .submit();
                }
                yield new ControlPayload.StartStorageResponse();
            }
            case ControlPayload.StopStorageRequest _ -> new ControlPayload.StopStorageResponse();
            case ControlPayload.ShutdownRequest _ -> new ControlPayload.ShutdownResponse();
            default -> throw new AssertionError(request);
        };
    }

    private void createObjects() {
        messages =
                new MessageMemory(device, 2 * SLOTS, Permissions.of(AccessFlag.LOCAL_READ_WRITE));
        Rdma data = Rdma.create(device);
        Rdma control = Rdma.create(device);
        for (Rdma context : List.of(data, control)) {
            context.setReadTasks(1, _ -> transferring = false, _ -> transferring = false);
            context.setWriteTasks(1, _ -> transferring = false, _ -> transferring = false);
            engine.connect(context);
        }
        rdma = new RdmaPair(data, control);
        rdma.configureMessages(
                SLOTS,
                RdmaSendTask::free,
                RdmaSendTask::free,
                this::received,
                RdmaReceiveTask::free);
        rdma.start(Patience.NANOS);
    }

    private void received(RdmaReceiveTask task) {
        int slot = (int) (task.destination().offset() / IoMessageView.WIRE_BYTES);
        requests.add(
                messages.segment()
                        .asSlice(messages.at(slot), task.resultLength())
                        .toArray(ValueLayout.JAVA_BYTE));
        messages.clear(slot);
        task.submit();
    }

    private byte[] transferHere(RdmaConnection connection, boolean write, byte[] bytes) {
        try (Mmap memory =
                        Mmap.createFromExport(
                                export.bytes(), device, Mapping.ACCESS, Patience.LIMIT);
                BufInventory inventory = BufInventory.create(1);
                MessageMemory local =
                        new MessageMemory(device, 1, Permissions.of(AccessFlag.LOCAL_READ_WRITE))) {
            inventory.start();
            Buf remote = inventory.bufByAddress(memory, 0, bytes.length);
            Task task;
            if (write) {
                local.fill(0);
                local.segment().copyFrom(MemorySegment.ofArray(bytes));
                task = connection.context().allocateWrite(connection, local.buf(0), remote);
            } else {
                remote.setData(0, bytes.length);
                task = connection.context().allocateRead(connection, remote, local.buf(0));
            }
            try {
                task.submit();
                transferring = true;
                while (transferring) {
                    engine.await(Patience.LIMIT);
                }
                if (task.status() != Status.SUCCESS) {
                    throw new DpuException(task.status(), "transfer failed: write=" + write);
                }
                return local.segment().toArray(ValueLayout.JAVA_BYTE);
            } finally {
                task.free();
                remote.release();
            }
        }
    }

    private void runActions() {
        Runnable action = actions.poll();
        while (action != null) {
            action.run();
            action = actions.poll();
        }
    }

    private void sendAnswers() {
        byte[] answer = started ? answers.poll() : null;
        while (answer != null) {
            int slot = SLOTS + sent++ % SLOTS;
            messages.buf(slot).setData(messages.at(slot), answer.length);
            messages.segment()
                    .asSlice(messages.at(slot), answer.length)
                    .copyFrom(MemorySegment.ofArray(answer));
            var connection = rdma.connection(RdmaConnectionRole.IO_CONTROL);
            connection.context().allocateSend(connection, messages.buf(slot)).submit();
            answer = answers.poll();
        }
    }

    private void tearDown() {
        if (rdma != null) {
            for (Context context :
                    List.of(
                            rdma.context(RdmaConnectionRole.IO_DATA),
                            rdma.context(RdmaConnectionRole.IO_CONTROL))) {
                if (context.state() == ContextState.RUNNING
                        || context.state() == ContextState.STARTING) {
                    context.stop();
                }
                while (context.state() != ContextState.IDLE) {
                    engine.await(Patience.LIMIT);
                }
                context.close();
            }
        }
        if (messages != null) {
            messages.close();
        }
        channel.close();
        engine.close();
        device.close();
    }
}
