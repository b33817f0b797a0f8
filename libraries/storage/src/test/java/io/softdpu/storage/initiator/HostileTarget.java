package io.softdpu.storage.initiator;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.control.End;
import io.softdpu.storage.control.TcpListener;
import io.softdpu.storage.control.TcpServerControlChannel;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.storage.worker.MessageMemory;
import io.softdpu.storage.worker.RdmaPair;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A target that does what is right as far as the start of the data path, and then answers an
 * io_message that nobody has sent. One thread does it all.
 */
final class HostileTarget implements AutoCloseable {
    private static final long TIMEOUT = 20_000_000_000L;
    private static final long LOOK_NANOS = 1_000_000L;
    private static final int SLOTS = 4;

    private final Machine machine;
    private final TcpListener listener = TcpListener.open(End.ANY_PORT);
    private final CompletableFuture<TcpServerControlChannel> open = new CompletableFuture<>();
    private final Thread thread;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private ProgressEngine engine;
    private TcpServerControlChannel channel;
    private Device device;
    private @Nullable MessageMemory messages;
    private @Nullable RdmaPair rdma;

    HostileTarget(Path folder) {
        machine = Machine.builder(Side.TARGET).fabricFolder(folder).open();
        thread = new Thread(this::run, "hostile-target");
        thread.start();
    }

    int port() {
        return listener.address().getPort();
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
            channel =
                    ControlChannels.makeTcpServer(
                            engine, listener, StorageDefaults.CONTROL_TIMEOUT_NANOS);
            open.complete(channel);
            try {
                channel.awaitConnected(ControlChannel.NO_TIMEOUT);
                serve();
            } catch (DpuException e) {
                // The service has gone, or the test is over.
            }
            takeDown();
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
                engine.await(LOOK_NANOS);
                continue;
            }
            if (request.payload() instanceof ControlPayload.ErrorResponse) {
                return; // why the service gives up
            }
            channel.send(request.reply(handle(request.payload())));
            if (request.payload() instanceof ControlPayload.StartStorageRequest) {
                answerWhatNobodyAsked();
            }
        }
    }

    private ControlPayload handle(ControlPayload request) {
        return switch (request) {
            case ControlPayload.QueryStorageRequest _ ->
                    new ControlPayload.QueryStorageResponse(16 << 10, 4096);
            case ControlPayload.InitStorageRequest _ -> {
                createObjects();
                yield new ControlPayload.InitStorageResponse();
            }
            case ControlPayload.CreateRdmaConnectionRequest create -> {
                Blob local = rdma.export(create.role());
                rdma.connect(create.role(), create.connectionDetails());
                yield new ControlPayload.CreateRdmaConnectionResponse(
                        create.contextIndex(), create.role(), local);
            }
            case ControlPayload.StartStorageRequest _ -> {
                for (RdmaConnectionRole role : RdmaConnectionRole.values()) {
                    while (rdma.context(role).state() != ContextState.RUNNING) {
                        engine.await(TIMEOUT);
                    }
                }
                yield new ControlPayload.StartStorageResponse();
            }
            default -> throw new AssertionError(request);
        };
    }

    private void createObjects() {
        messages = new MessageMemory(device, SLOTS, Permissions.of(AccessFlag.LOCAL_READ_WRITE));
        Rdma data = Rdma.create(device);
        data.configureReadTasks(SLOTS, RdmaReadTask::free, RdmaReadTask::free);
        Rdma control = Rdma.create(device);
        control.configureSendTasks(SLOTS, RdmaSendTask::free, RdmaSendTask::free);
        control.configureReceiveTasks(SLOTS, RdmaReceiveTask::free, RdmaReceiveTask::free);
        engine.connect(data);
        engine.connect(control);
        rdma = new RdmaPair(data, control);
        rdma.start(TIMEOUT);
    }

    private void answerWhatNobodyAsked() {
        IoMessageView.write(messages.segment(), messages.at(0), 0, 0, 0, 4096, 0, 0);
        messages.fill(0);
        var connection = rdma.connection(RdmaConnectionRole.IO_CONTROL);
        connection.context().allocateSend(connection, messages.buf(0)).submit();
    }

    private void takeDown() {
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
                    engine.await(TIMEOUT);
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
