package io.softdpu.storage.relay;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machine;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.control.ComchServerControlChannel;
import io.softdpu.storage.control.ConsumerListener;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.control.ControlExchange;
import io.softdpu.storage.control.RemoteErrorException;
import io.softdpu.storage.control.TcpClientControlChannel;
import io.softdpu.storage.runtime.ClientRequests;
import io.softdpu.storage.runtime.Closing;
import io.softdpu.storage.runtime.Core;
import io.softdpu.storage.runtime.OptionChecks;
import io.softdpu.storage.runtime.RoleBase;
import io.softdpu.storage.runtime.SilenceWatch;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.RdmaConnectionRole;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The session of a zero-copy service: its control thread. */
final class ServiceSession extends RoleBase<RelayWorker> {
    /**
     * Control timeouts that an initiator may let pass without asking for anything. Between two
     * requests it takes its own contexts up or down, which may last as long.
     */
    private static final int SILENT_TIMEOUTS = 2;

    /** With less than this left of a step nobody is asked any more. */
    private static final long MIN_RELAY_NANOS = 1_000_000;

    private final ServiceOptions options;
    private final Device device;
    private final Representor representor;

    private @Nullable ProgressEngine engine;
    private @Nullable TcpClientControlChannel storage;
    private @Nullable ComchServerControlChannel client;
    private @Nullable Mmap ioBlocks;
    private boolean storageIsDone;

    private ServiceSession(
            ServiceOptions options,
            Device device,
            Representor representor,
            SessionListener listener) {
        super("zero-copy", listener, options.controlTimeoutNanos());
        this.options = options;
        this.device = device;
        this.representor = representor;
    }

    static ServiceSession open(Machine machine, ServiceOptions options, SessionListener listener) {
        if (machine.side() != Side.DPU) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "zero-copy service runs on the DPU only: side="
                            + machine.side()
                            + ", expected="
                            + Side.DPU);
        }
        Device device = machine.findDevice(options.device()).open();
        try {
            Representor representor = device.findRepresentor(options.representor()).open(device);
            return new ServiceSession(options, device, representor, listener);
        } catch (RuntimeException e) {
            device.close();
            throw e;
        }
    }

    @Override
    protected void session() {
        ProgressEngine created = ProgressEngine.create();
        engine = created;
        TcpClientControlChannel toStorage =
                addChannel(ControlChannels.makeTcpClient(options.storageServer()));
        storage = toStorage;
        ComchServerControlChannel toClient =
                addChannel(
                        ControlChannels.makeComchServer(
                                created,
                                device,
                                representor,
                                options.commandChannelName(),
                                ConsumerListener.none(),
                                controlTimeoutNanos));
        client = toClient;
        connectToStorage(toStorage, created);
        waitForClient(toClient);
        new Conversation(toStorage, toClient, created).proceed();
    }

    private void connectToStorage(TcpClientControlChannel toStorage, ProgressEngine wake) {
        step(SessionStep.CONNECTING_TO_STORAGE, toStorage.description());
        try {
            toStorage.awaitConnected(controlTimeoutNanos);
        } catch (DpuException e) {
            throw aborted(e, "Aborted while connecting to storage");
        }
        toStorage.watch(wake::wake);
    }

    private void waitForClient(ComchServerControlChannel toClient) {
        step(SessionStep.WAITING_FOR_CLIENT, toClient.description());
        try {
            while (!toClient.isConnected()) {
                toClient.progress();
                checkStorage();
                if (!toClient.isConnected()) {
                    awaitNews(Long.MAX_VALUE);
                }
            }
        } catch (DpuException e) {
            throw aborted(e, "Aborted while connecting to client");
        }
        step(SessionStep.CONNECTED, toClient.description());
    }

    /** Where it was this side that was aborted; a peer's word stays as it came. */
    private static DpuException aborted(DpuException e, String where) {
        return e.status() == Status.CONNECTION_ABORTED && !(e instanceof RemoteErrorException)
                ? new DpuException(e.status(), where + ": reason=" + e.getMessage(), e)
                : e;
    }

    @Override
    protected void awaitNews(long timeoutNanos) {
        if (engine != null) {
            engine.await(timeoutNanos);
        }
    }

    @Override
    protected void checkPeers() {
        checkStorage();
        if (client != null) {
            client.progress();
        }
    }

    /**
     * The target speaks only when it is asked, so anything that it says by itself is a failure: its
     * own reason, where it gives one, such as that it serves somebody else.
     */
    private void checkStorage() {
        if (storage == null || storageIsDone) {
            return;
        }
        ControlMessage message = storage.poll();
        if (message != null) {
            requireNoError(message);
            throw new DpuException(
                    Status.UNEXPECTED,
                    "storage target sent a message that nobody asked for: got="
                            + message.type().wireName()
                            + ", expected=none");
        }
    }

    @Override
    protected void releaseResources() {
        ProgressEngine present = engine;
        if (present != null) {
            noteControlCopies(present.payloadBytesCopied(), present.messageBytesCopied());
        }
        Closing.inOrder(
                noted("control channel to the storage target", storage),
                noted("control channel to the initiator", client),
                present,
                noted("mmap of the initiator's memory", ioBlocks),
                noted("representor", representor),
                noted("device", device));
    }

    /** The control messages of one session, when both peers are there. */
    private final class Conversation {
        private final ControlExchange toStorage;
        private final ControlExchange toClient;
        private final ComchServerControlChannel clientChannel;
        private int coreCount;
        private int transactionCount;
        private long storageSizeBytes;

        Conversation(
                TcpClientControlChannel storage,
                ComchServerControlChannel client,
                ProgressEngine engine) {
            // Both channels are heard through the engine: a socket that has news wakes it.
            this.toStorage =
                    new ControlExchange(
                            storage,
                            timeoutNanos -> {
                                requireClient(client);
                                engine.await(timeoutNanos);
                            });
            this.toClient = new ControlExchange(client);
            this.clientChannel = client;
        }

        void proceed() {
            var requests =
                    new ClientRequests(
                            toClient, controlTimeoutNanos, this::awaitRequest, this::beginRequest);
            requests.serve(
                    SessionStep.QUERY, ControlMessageType.QUERY_STORAGE_REQUEST, this::query);
            requests.serve(SessionStep.INIT, ControlMessageType.INIT_STORAGE_REQUEST, this::init);
            requests.serve(
                    SessionStep.START, ControlMessageType.START_STORAGE_REQUEST, this::start);
            step(SessionStep.DATA_PATH, "");
            requests.serve(SessionStep.STOP, ControlMessageType.STOP_STORAGE_REQUEST, this::stop);
            requests.serveLast(
                    SessionStep.SHUTDOWN, ControlMessageType.SHUTDOWN_REQUEST, this::shutdown);
            endConversation();
        }

        private void beginRequest(SessionStep step, ControlMessage request) {
            beginStep();
            step(step, "");
        }

        private ControlMessage awaitRequest(ControlMessageType expected) {
            SilenceWatch initiator =
                    new SilenceWatch(
                            StorageDefaults.silenceNanos(
                                    SILENT_TIMEOUTS, controlTimeoutNanos, storageSizeBytes));
            SilenceWatch target = new SilenceWatch(controlTimeoutNanos);
            while (true) {
                ControlMessage request = clientChannel.poll();
                if (request != null) {
                    requireNoError(request);
                    return request;
                }
                checkWorkers();
                checkStorage();
                long requests = sum(RelayWorker::requests);
                long responses = sum(RelayWorker::responses);
                if (initiator.isTooLong(requests)) {
                    throw initiatorIsSilent(expected, initiator.limitNanos());
                }
                if (requests <= responses) {
                    target.restart();
                } else if (target.isTooLong(responses)) {
                    throw targetIsSilent(requests - responses);
                }
                awaitNews(Math.min(initiator.remainingNanos(), controlTimeoutNanos / 4));
            }
        }

        private DpuException initiatorIsSilent(ControlMessageType expected, long limitNanos) {
            return new DpuException(
                    Status.TIME_OUT,
                    "initiator has fallen silent: peer="
                            + clientChannel.description()
                            + ", expected="
                            + expected.wireName()
                            + " or an io_message, waited_ms="
                            + limitNanos / 1_000_000);
        }

        private DpuException targetIsSilent(long unanswered) {
            return new DpuException(
                    Status.TIME_OUT,
                    "storage target answers no io_message: peer="
                            + toStorage.channel().description()
                            + ", unanswered="
                            + unanswered
                            + ", waited_ms="
                            + controlTimeoutNanos / 1_000_000);
        }

        private ControlPayload relay(
                ControlMessage request, ControlPayload payload, ControlMessageType expected) {
            long left = stepNanos();
            if (left < MIN_RELAY_NANOS) {
                throw new DpuException(
                        Status.TIME_OUT,
                        "storage target and workers took too long for one request: peer="
                                + toStorage.channel().description()
                                + ", request="
                                + request.type().wireName()
                                + ", left="
                                + payload.type().wireName()
                                + ", waited_ms="
                                + controlTimeoutNanos / 1_000_000);
            }
            return toStorage.request(payload, request.correlationId(), expected, left);
        }

        private ControlPayload query(ControlMessage request) {
            var response =
                    (ControlPayload.QueryStorageResponse)
                            relay(
                                    request,
                                    request.payload(),
                                    ControlMessageType.QUERY_STORAGE_RESPONSE);
            storageSizeBytes = response.totalSizeBytes();
            return response;
        }

        private ControlPayload init(ControlMessage request) {
            var init = (ControlPayload.InitStorageRequest) request.payload();
            checkInit(init);
            coreCount = init.coreCount();
            transactionCount = 2 * init.transactionCount();
            // Not mapped: the data never passes here. The target gets an export of the same memory.
            Mmap imported =
                    Mmap.createFromExport(
                            init.mmapExport().bytes(), device, Mapping.NONE, stepNanos());
            ioBlocks = imported;
            ControlPayload response =
                    relay(
                            request,
                            new ControlPayload.InitStorageRequest(
                                    transactionCount,
                                    coreCount,
                                    Blob.of(imported.exportRdma(device))),
                            ControlMessageType.INIT_STORAGE_RESPONSE);
            for (int core = 0; core < coreCount; core++) {
                prepareWorker(request, core);
            }
            return response;
        }

        private void checkInit(ControlPayload.InitStorageRequest init) {
            if (init.coreCount() > options.cpus().size()) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        "core_count is more than the service has: core_count="
                                + init.coreCount()
                                + ", expected=at most "
                                + options.cpus().size());
            }
            OptionChecks.requireRange(
                    "transaction_count",
                    init.transactionCount(),
                    1,
                    StorageDefaults.MAX_TRANSACTION_COUNT);
        }

        /** One worker after the other: their RDMA connections share the one control channel. */
        private void prepareWorker(ControlMessage request, int core) {
            RelayWorker worker =
                    addWorker(
                            new RelayWorker(
                                    new Core(core, coreCount, options.cpus().get(core)),
                                    device,
                                    transactionCount,
                                    controlTimeoutNanos,
                                    clientChannel::wakeup));
            worker.execute(
                    () -> worker.createObjects(clientChannel.connection(), controlTimeoutNanos));
            connectRdma(request, worker, RdmaConnectionRole.IO_DATA);
            connectRdma(request, worker, RdmaConnectionRole.IO_CONTROL);
        }

        private void connectRdma(
                ControlMessage request, RelayWorker worker, RdmaConnectionRole role) {
            Blob local = worker.query(() -> worker.exportConnection(role));
            var response =
                    (ControlPayload.CreateRdmaConnectionResponse)
                            relay(
                                    request,
                                    new ControlPayload.CreateRdmaConnectionRequest(
                                            worker.core(), role, local),
                                    ControlMessageType.CREATE_RDMA_CONNECTION_RESPONSE);
            if (response.contextIndex() != worker.core() || response.role() != role) {
                throw new DpuException(
                        Status.UNEXPECTED,
                        "storage target connected another context: got="
                                + response.contextIndex()
                                + " "
                                + response.role()
                                + ", expected="
                                + worker.core()
                                + " "
                                + role);
            }
            worker.execute(() -> worker.connect(role, response.connectionDetails()));
        }

        private ControlPayload start(ControlMessage request) {
            awaitContextsReady();
            awaitUntil(
                    "waiting for the initiator's consumers",
                    stepNanos(),
                    () -> clientChannel.connection().remoteConsumers().length >= coreCount);
            // Consumers are numbered in the order of their cores, on both sides.
            int[] consumers = clientChannel.connection().remoteConsumers();
            Arrays.sort(consumers);
            for (RelayWorker worker : workers()) {
                worker.execute(() -> worker.prepareTasks(consumers[worker.core()]));
            }
            ControlPayload response =
                    relay(request, request.payload(), ControlMessageType.START_STORAGE_RESPONSE);
            startDataPath();
            return response;
        }

        private ControlPayload stop(ControlMessage request) {
            ControlPayload response =
                    relay(request, request.payload(), ControlMessageType.STOP_STORAGE_RESPONSE);
            stopDataPath();
            return response;
        }

        private ControlPayload shutdown(ControlMessage request) {
            ControlPayload response =
                    relay(request, request.payload(), ControlMessageType.SHUTDOWN_RESPONSE);
            // From here on it may go.
            storageIsDone = true;
            awaitUntil(
                    "waiting for the end of the initiator's consumers",
                    stepNanos(),
                    () -> clientChannel.connection().remoteConsumers().length == 0);
            stopContexts();
            return response;
        }

        private static void requireClient(ComchServerControlChannel client) {
            if (!client.isConnected()) {
                throwLastWord(client);
                throw new DpuException(
                        Status.CONNECTION_RESET,
                        "initiator has gone: peer=" + client.description());
            }
        }
    }
}
