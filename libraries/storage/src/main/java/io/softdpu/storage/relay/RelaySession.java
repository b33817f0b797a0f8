package io.softdpu.storage.relay;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Mmap;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.control.ComchServerControlChannel;
import io.softdpu.storage.control.ControlExchange;
import io.softdpu.storage.control.TcpClientControlChannel;
import io.softdpu.storage.option.OptionChecks;
import io.softdpu.storage.session.ClientRequests;
import io.softdpu.storage.session.InactivityTimer;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.storage.worker.WorkerSlot;
import java.time.Duration;
import java.util.Arrays;

/**
 * Control messages of one session of a zero-copy service, after both peers have connected. Belongs
 * to the control thread.
 */
final class RelaySession {
    /**
     * Control timeouts of an initiator's inactivity between two requests: it starts or stops its
     * own contexts meanwhile, which may take one.
     */
    private static final int INACTIVITY_TIMEOUTS = 2;

    /** Smallest remaining time of a step for another request to the target. */
    private static final long MIN_RELAY_NANOS = 1_000_000;

    private final ServiceSession session;
    private final long controlTimeoutNanos;
    private final ControlExchange toStorage;
    private final ControlExchange toClient;
    private final ComchServerControlChannel clientChannel;
    private int coreCount;
    private int transactionCount;
    private long storageSizeBytes;

    RelaySession(
            ServiceSession session,
            TcpClientControlChannel storage,
            ComchServerControlChannel client,
            ProgressEngine engine) {
        this.session = session;
        this.controlTimeoutNanos = session.options().controlTimeout().toNanos();
        // The engine waits for both channels.
        this.toStorage =
                new ControlExchange(
                        storage,
                        timeout -> {
                            requireClient(client);
                            engine.await(timeout);
                        });
        this.toClient = new ControlExchange(client);
        this.clientChannel = client;
    }

    void proceed() {
        ClientRequests requests =
                session.clientRequests(toClient, this::waitLimit, this::beginRequest);
        requests.serve(SessionStep.QUERY, ControlMessageType.QUERY_STORAGE_REQUEST, this::query);
        requests.serve(SessionStep.INIT, ControlMessageType.INIT_STORAGE_REQUEST, this::init);
        requests.serve(SessionStep.START, ControlMessageType.START_STORAGE_REQUEST, this::start);
        session.steps().begin(SessionStep.DATA_PATH, "");
        requests.serve(SessionStep.STOP, ControlMessageType.STOP_STORAGE_REQUEST, this::stop);
        requests.serveLast(
                SessionStep.SHUTDOWN, ControlMessageType.SHUTDOWN_REQUEST, this::shutdown);
        session.endControlDialogue();
    }

    private void beginRequest(SessionStep step, ControlMessage request) {
        session.steps().startTimeout();
        session.steps().begin(step, "");
    }

    private ClientRequests.WaitLimit waitLimit(ControlMessageType expected) {
        InactivityTimer initiator =
                new InactivityTimer(
                        StorageDefaults.inactivity(
                                        INACTIVITY_TIMEOUTS,
                                        session.options().controlTimeout(),
                                        storageSizeBytes)
                                .toNanos());
        InactivityTimer target = new InactivityTimer(controlTimeoutNanos);
        return () -> {
            session.checkStorage();
            long requests = session.workers().sum(RelayWorker::requests);
            long responses = session.workers().sum(RelayWorker::responses);
            if (initiator.hasExpired(requests)) {
                throw initiatorInactive(expected, initiator.limitNanos());
            }
            if (requests <= responses) {
                target.restart();
            } else if (target.hasExpired(responses)) {
                throw targetInactive(requests - responses);
            }
            return Math.min(initiator.remainingNanos(), controlTimeoutNanos / 4);
        };
    }

    private DpuException initiatorInactive(ControlMessageType expected, long limitNanos) {
        return new DpuException(
                Status.TIME_OUT,
                "initiator is inactive: peer="
                        + clientChannel.description()
                        + ", expected="
                        + expected.wireName()
                        + " or an io_message, waitedMillis="
                        + limitNanos / 1_000_000);
    }

    private DpuException targetInactive(long unanswered) {
        return new DpuException(
                Status.TIME_OUT,
                "storage target does not reply to io_messages: peer="
                        + toStorage.channel().description()
                        + ", unanswered="
                        + unanswered
                        + ", waitedMillis="
                        + controlTimeoutNanos / 1_000_000);
    }

    private ControlPayload relay(
            ControlMessage request, ControlPayload payload, ControlMessageType expected) {
        long left = session.steps().remainingNanos();
        if (left < MIN_RELAY_NANOS) {
            throw new DpuException(
                    Status.TIME_OUT,
                    "storage target and workers took too long for one request: peer="
                            + toStorage.channel().description()
                            + ", request="
                            + request.type().wireName()
                            + ", left="
                            + payload.type().wireName()
                            + ", waitedMillis="
                            + controlTimeoutNanos / 1_000_000);
        }
        return toStorage.request(
                payload, request.correlationId(), expected, Duration.ofNanos(left));
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
        // The target gets an RDMA export of the same memory.
        Mmap imported = session.importMemory(init.mmapExport(), session.steps().remainingNanos());
        ControlPayload response =
                relay(
                        request,
                        new ControlPayload.InitStorageRequest(
                                transactionCount,
                                coreCount,
                                Blob.of(imported.exportRdma(session.device()))),
                        ControlMessageType.INIT_STORAGE_RESPONSE);
        for (int index = 0; index < coreCount; index++) {
            prepareWorker(request, index);
        }
        return response;
    }

    private void checkInit(ControlPayload.InitStorageRequest init) {
        if (init.coreCount() > session.options().cpus().size()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "core count exceeds the workers of the service: coreCount="
                            + init.coreCount()
                            + ", expected=at most "
                            + session.options().cpus().size());
        }
        OptionChecks.requireRange(
                "transactionCount",
                init.transactionCount(),
                1,
                StorageDefaults.MAX_TRANSACTION_COUNT);
    }

    /**
     * Creates one worker and connects it; sequentially, since workers share one control channel.
     */
    private void prepareWorker(ControlMessage request, int index) {
        RelayWorker worker =
                session.workers()
                        .add(
                                new RelayWorker(
                                        new WorkerSlot(
                                                index,
                                                session.options().cpus().get(index),
                                                session.options().waitMode()),
                                        session.device(),
                                        session.options().provider(),
                                        transactionCount,
                                        controlTimeoutNanos,
                                        clientChannel::wakeup));
        worker.execute(() -> worker.createObjects(clientChannel.connection(), controlTimeoutNanos));
        connectRdma(request, worker, RdmaConnectionRole.IO_DATA);
        connectRdma(request, worker, RdmaConnectionRole.IO_CONTROL);
    }

    private void connectRdma(ControlMessage request, RelayWorker worker, RdmaConnectionRole role) {
        Blob local = worker.query(() -> worker.exportConnection(role));
        var response =
                (ControlPayload.CreateRdmaConnectionResponse)
                        relay(
                                request,
                                new ControlPayload.CreateRdmaConnectionRequest(
                                        worker.index(), role, local),
                                ControlMessageType.CREATE_RDMA_CONNECTION_RESPONSE);
        if (response.contextIndex() != worker.index() || response.role() != role) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    "storage target connected another context: got="
                            + response.contextIndex()
                            + " "
                            + response.role()
                            + ", expected="
                            + worker.index()
                            + " "
                            + role);
        }
        worker.execute(() -> worker.connect(role, response.connectionDetails()));
    }

    private ControlPayload start(ControlMessage request) {
        session.workers().awaitContextsReady(session.steps().remainingNanos());
        session.loop()
                .awaitUntil(
                        "waiting for the initiator's consumers",
                        session.steps().remainingNanos(),
                        () -> clientChannel.connection().remoteConsumers().length >= coreCount);
        // Consumer ids rise with the index of their workers, on both sides.
        int[] consumers = clientChannel.connection().remoteConsumers();
        Arrays.sort(consumers);
        for (RelayWorker worker : session.workers().inOrder()) {
            worker.execute(() -> worker.prepareTasks(consumers[worker.index()]));
        }
        ControlPayload response =
                relay(request, request.payload(), ControlMessageType.START_STORAGE_RESPONSE);
        session.workers().startDataPath(session.steps().remainingNanos());
        return response;
    }

    private ControlPayload stop(ControlMessage request) {
        ControlPayload response =
                relay(request, request.payload(), ControlMessageType.STOP_STORAGE_RESPONSE);
        session.workers().stopDataPath();
        return response;
    }

    private ControlPayload shutdown(ControlMessage request) {
        ControlPayload response =
                relay(request, request.payload(), ControlMessageType.SHUTDOWN_RESPONSE);
        session.storageShutDown();
        session.loop()
                .awaitUntil(
                        "waiting for the end of the initiator's consumers",
                        session.steps().remainingNanos(),
                        () -> clientChannel.connection().remoteConsumers().length == 0);
        session.workers().stopContexts();
        session.workers().closeObjects();
        return response;
    }

    private static void requireClient(ComchServerControlChannel client) {
        if (!client.isConnected()) {
            client.requireNoError();
            throw new DpuException(
                    Status.CONNECTION_RESET, "initiator has ended: peer=" + client.description());
        }
    }
}
