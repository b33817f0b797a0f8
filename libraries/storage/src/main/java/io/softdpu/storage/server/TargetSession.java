package io.softdpu.storage.server;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.control.ControlExchange;
import io.softdpu.storage.control.TcpListener;
import io.softdpu.storage.control.TcpServerControlChannel;
import io.softdpu.storage.option.OptionChecks;
import io.softdpu.storage.session.ClientRequests;
import io.softdpu.storage.session.InactivityTimer;
import io.softdpu.storage.session.Session;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.worker.Closeables;
import io.softdpu.storage.worker.WorkerSlot;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Session of a storage target, on its control thread. */
final class TargetSession extends Session<TargetWorker> implements StorageTarget {
    private static final String ROLE = "target";

    /**
     * Control timeouts of a service's inactivity between two requests: one more than the service
     * grants its initiator, so that the service reports an inactive initiator first.
     */
    private static final int INACTIVITY_TIMEOUTS = 3;

    private final TargetOptions options;
    private final Device device;
    private final BlockDevice volume;
    private final TcpListener tcpListener;
    private @Nullable ProgressEngine engine;
    private @Nullable TcpServerControlChannel channel;
    private @Nullable Mmap remoteMemory;
    private boolean started;

    private TargetSession(
            TargetOptions options,
            Device device,
            BlockDevice volume,
            TcpListener tcpListener,
            SessionListener listener) {
        super(ROLE, listener, options.controlTimeout().toNanos());
        this.options = options;
        this.device = device;
        this.volume = volume;
        this.tcpListener = tcpListener;
    }

    static TargetSession open(
            Machine machine, TargetOptions options, BlockDevice volume, SessionListener listener) {
        Device device = null;
        TcpListener tcpListener = null;
        try {
            device = openDevice(ROLE, machine, options.device());
            requireProvider(device, options.provider());
            volume.attach(device);
            if (volume.memory() == null) {
                StagingMemory.require(volume.properties(), options.stagingBytes());
            }
            tcpListener =
                    TcpListener.open(
                            new InetSocketAddress(options.listenAddress(), options.listenPort()));
            return new TargetSession(options, device, volume, tcpListener, listener);
        } catch (RuntimeException e) {
            Closeables.afterFailure(e, tcpListener, volume, device);
            throw e;
        }
    }

    @Override
    public InetSocketAddress address() {
        return tcpListener.address();
    }

    @Override
    protected void session() {
        steps().begin(SessionStep.LISTENING, options.listenAddress() + ":" + address().getPort());
        ProgressEngine created = ProgressEngine.create();
        engine = created;
        TcpServerControlChannel service =
                addChannel(
                        ControlChannels.makeTcpServer(
                                created, tcpListener, Duration.ofNanos(controlTimeoutNanos)));
        channel = service;
        steps().begin(SessionStep.WAITING_FOR_CLIENT, "");
        service.awaitConnected(Deadline.NO_LIMIT);
        steps().begin(SessionStep.CONNECTED, service.description());
        ClientRequests requests =
                clientRequests(
                        new ControlExchange(service),
                        expected -> waitLimit(service, expected),
                        this::beginRequest);
        requests.serve(SessionStep.QUERY, ControlMessageType.QUERY_STORAGE_REQUEST, _ -> query());
        requests.serve(
                SessionStep.INIT,
                ControlMessageType.INIT_STORAGE_REQUEST,
                request -> init(request, service));
        for (int i = 2 * workers().size(); i > 0; i--) {
            requests.serve(
                    SessionStep.INIT,
                    ControlMessageType.CREATE_RDMA_CONNECTION_REQUEST,
                    this::connectRdma);
        }
        requests.serve(SessionStep.START, ControlMessageType.START_STORAGE_REQUEST, _ -> start());
        steps().begin(SessionStep.DATA_PATH, "");
        requests.serve(SessionStep.STOP, ControlMessageType.STOP_STORAGE_REQUEST, _ -> stop());
        requests.serveLast(
                SessionStep.SHUTDOWN, ControlMessageType.SHUTDOWN_REQUEST, _ -> shutdown());
        endControlDialogue();
    }

    @Override
    protected void awaitEvent(Duration timeout) {
        if (engine != null) {
            engine.await(timeout);
        }
    }

    /**
     * Checks that the service sends no message, except a final error, while it waits for a reply.
     */
    @Override
    protected void checkPeers() {
        if (channel != null) {
            requireNoMessage(channel, "service sent a message before it received the reply");
        }
    }

    @Override
    protected void releaseResources() {
        Closeables.inOrder(channel, engine, tcpListener, remoteMemory, volume, device);
    }

    /**
     * Limit of the wait for a request; none for the first, which waits for an initiator to connect.
     */
    private ClientRequests.WaitLimit waitLimit(ControlChannel peer, ControlMessageType expected) {
        if (!started) {
            return () -> Long.MAX_VALUE;
        }
        InactivityTimer service =
                new InactivityTimer(
                        StorageDefaults.inactivity(
                                        INACTIVITY_TIMEOUTS,
                                        Duration.ofNanos(controlTimeoutNanos),
                                        volume.properties().sizeBytes())
                                .toNanos());
        return () -> {
            if (service.hasExpired(workers().sum(TargetWorker::requests))) {
                throw new DpuException(
                        Status.TIME_OUT,
                        "zero-copy service is inactive: peer="
                                + peer.description()
                                + ", expected="
                                + expected.wireName()
                                + " or an io_message, waitedMillis="
                                + service.limitNanos() / 1_000_000);
            }
            // The workers' activity does not wake this thread, so it is checked periodically.
            return Math.min(service.remainingNanos(), controlTimeoutNanos / 4);
        };
    }

    private void beginRequest(SessionStep step, ControlMessage request) {
        started = true;
        steps().startTimeout();
        steps().begin(step, request.type().wireName());
    }

    private ControlPayload query() {
        return new ControlPayload.QueryStorageResponse(
                volume.properties().sizeBytes(), volume.properties().blockSizeBytes());
    }

    private ControlPayload init(ControlMessage request, ControlChannel service) {
        var init = (ControlPayload.InitStorageRequest) request.payload();
        if (init.coreCount() > options.cpus().size()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "core count exceeds the workers of the target: coreCount="
                            + init.coreCount()
                            + ", expected=at most "
                            + options.cpus().size());
        }
        OptionChecks.requireRange(
                "transactionCount",
                init.transactionCount(),
                1,
                2L * StorageDefaults.MAX_TRANSACTION_COUNT);
        Mmap imported =
                Mmap.createFromExport(
                        init.mmapExport().bytes(),
                        device,
                        Mapping.ACCESS,
                        Duration.ofNanos(steps().remainingNanos()));
        remoteMemory = imported;
        for (int index = 0; index < init.coreCount(); index++) {
            TargetWorker worker =
                    workers()
                            .add(
                                    new TargetWorker(
                                            new WorkerSlot(
                                                    index,
                                                    options.cpus().get(index),
                                                    options.waitMode()),
                                            device,
                                            volume,
                                            imported,
                                            options.provider(),
                                            init.transactionCount(),
                                            options.stagingBytes(),
                                            controlTimeoutNanos,
                                            service::wakeup));
            worker.execute(() -> worker.createObjects(controlTimeoutNanos));
        }
        return new ControlPayload.InitStorageResponse();
    }

    private ControlPayload connectRdma(ControlMessage request) {
        var create = (ControlPayload.CreateRdmaConnectionRequest) request.payload();
        if (create.contextIndex() >= workers().size()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "context index is illegal: contextIndex="
                            + create.contextIndex()
                            + ", expected=0 to "
                            + (workers().size() - 1));
        }
        TargetWorker worker = workers().inOrder().get(create.contextIndex());
        Blob local = worker.query(() -> worker.connect(create.role(), create.connectionDetails()));
        return new ControlPayload.CreateRdmaConnectionResponse(
                create.contextIndex(), create.role(), local);
    }

    private ControlPayload start() {
        workers().awaitContextsReady(steps().remainingNanos());
        for (TargetWorker worker : workers().inOrder()) {
            worker.execute(worker::prepareTasks);
        }
        workers().startDataPath(steps().remainingNanos());
        return new ControlPayload.StartStorageResponse();
    }

    private ControlPayload stop() {
        workers().stopDataPath();
        return new ControlPayload.StopStorageResponse();
    }

    private ControlPayload shutdown() {
        workers().stopContexts();
        return new ControlPayload.ShutdownResponse();
    }
}
