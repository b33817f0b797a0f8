package io.softdpu.storage.initiator;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.MemoryLimits;
import io.softdpu.linux.text.Reason;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.control.ComchClientControlChannel;
import io.softdpu.storage.control.ConsumerListener;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.control.ControlExchange;
import io.softdpu.storage.session.Session;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.worker.Closeables;
import io.softdpu.storage.worker.WorkerSlot;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Session of a storage initiator, on its control thread. */
final class InitiatorSession extends Session<InitiatorWorker> implements StorageInitiator {
    private static final String ROLE = "initiator";

    /**
     * Added to the connect timeout, so that the client's own timeout, with its reason, expires
     * first.
     */
    private static final long CONNECT_SLACK_NANOS = 1_000_000_000L;

    /**
     * Control timeouts within which the service has to reply: one for its own wait for the target,
     * one for the failure reply.
     */
    private static final int RELAYED_TIMEOUTS = 2;

    private final InitiatorOptions options;
    private final Workload workload;
    private final Device device;
    private final InitiatorListener listener;
    private final List<PhaseReport> phaseReports = new CopyOnWriteArrayList<>();

    private long volumeSizeBytes;
    private int blockSizeBytes;
    private @Nullable ProgressEngine engine;
    private @Nullable ComchClientControlChannel channel;
    private @Nullable IoMemory memory;
    private @Nullable PhaseRunner current;
    private int correlationId;

    private InitiatorSession(
            InitiatorOptions options,
            Workload workload,
            Device device,
            InitiatorListener listener) {
        super(ROLE, listener, options.controlTimeout().toNanos());
        this.options = options;
        this.workload = workload;
        this.device = device;
        this.listener = listener;
    }

    static InitiatorSession open(
            Machine machine,
            InitiatorOptions options,
            Workload workload,
            InitiatorListener listener) {
        if (machine.side() != Side.HOST) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "storage initiator runs on the host only: side="
                            + machine.side()
                            + ", expected="
                            + Side.HOST);
        }
        Device device = openDevice(ROLE, machine, options.device());
        return new InitiatorSession(options, workload, device, listener);
    }

    @Override
    public InitiatorReport initiatorReport() {
        return new InitiatorReport(report(), phaseReports);
    }

    @Override
    public LatencyCounts latencyCounts() {
        long[] sums = LiveLatencies.newSums();
        workers().inOrder().forEach(worker -> worker.liveLatencies().addTo(sums));
        return new LatencyCounts(sums);
    }

    @Override
    protected void session() {
        ProgressEngine created = ProgressEngine.create();
        engine = created;
        ComchClientControlChannel toService =
                addChannel(
                        ControlChannels.makeComchClient(
                                created,
                                device,
                                options.commandChannelName(),
                                ConsumerListener.none(),
                                Duration.ofNanos(controlTimeoutNanos)));
        channel = toService;
        ControlExchange exchange = new ControlExchange(toService);
        connect(toService);
        query(exchange);
        List<Phase> phases = workload.phases();
        int transactions = transactions();
        IoMemory data = allocateMemory();
        phases.forEach(phase -> runner(phase, data, transactions).check());
        init(exchange, data, transactions);
        createWorkers(toService, transactions);
        start(exchange, toService);
        steps().begin(SessionStep.DATA_PATH, "");
        DpuException failure = runPhases(phases, data, transactions);
        stop(exchange);
        shutdown(exchange);
        endControlDialogue();
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    protected void awaitEvent(Duration timeout) {
        if (engine != null) {
            engine.await(timeout);
        }
    }

    /** Checks that the service is connected and sends no message without a request. */
    @Override
    protected void checkPeers() {
        if (channel != null) {
            requireNoMessage(channel, "service sent a message without a request");
        }
    }

    @Override
    protected void releaseResources() {
        PhaseRunner aborted = current;
        PhaseReport partial = aborted == null ? null : aborted.aborted();
        if (partial != null) {
            phaseReports.add(partial);
        }
        ProgressEngine present = engine;
        if (present != null) {
            recordControlCopies(present.payloadBytesCopied(), present.messageBytesCopied());
        }
        Closeables.inOrder(channel, present, memory, device);
    }

    private void connect(ComchClientControlChannel toService) {
        steps().begin(SessionStep.CONNECTING_TO_SERVICE, toService.description());
        try {
            toService.awaitConnected(Duration.ofNanos(controlTimeoutNanos + CONNECT_SLACK_NANOS));
        } catch (DpuException e) {
            throw aborted(e, "Aborted while connecting to service");
        }
        steps().begin(SessionStep.CONNECTED, toService.description());
    }

    private ControlPayload request(
            ControlExchange exchange, ControlPayload request, ControlMessageType expected) {
        return exchange.request(
                request,
                ++correlationId,
                expected,
                Duration.ofNanos(RELAYED_TIMEOUTS * controlTimeoutNanos));
    }

    private void query(ControlExchange exchange) {
        steps().begin(SessionStep.QUERY, "");
        var storage =
                (ControlPayload.QueryStorageResponse)
                        request(
                                exchange,
                                new ControlPayload.QueryStorageRequest(),
                                ControlMessageType.QUERY_STORAGE_RESPONSE);
        if (storage.totalSizeBytes() / storage.blockSizeBytes() < options.cpus().size()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "storage has fewer blocks than there are workers: totalSizeBytes="
                            + storage.totalSizeBytes()
                            + ", blockSizeBytes="
                            + storage.blockSizeBytes()
                            + ", expected=at least "
                            + options.cpus().size()
                            + " blocks");
        }
        volumeSizeBytes = storage.totalSizeBytes();
        blockSizeBytes = storage.blockSizeBytes();
    }

    /**
     * Transactions per worker, limited by the blocks of its part of the storage and by the
     * workload.
     */
    private int transactions() {
        long blocksPerWorker = volumeSizeBytes / blockSizeBytes / options.cpus().size();
        int limit = Math.min(options.transactionCount(), workload.maxTransactions());
        return (int) Math.min(limit, blocksPerWorker);
    }

    private IoMemory allocateMemory() {
        long size = options.localIoRegionSizeBytes();
        long least = (long) blockSizeBytes * options.cpus().size();
        if (size != 0 && size < least) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "local memory does not hold a block for each worker: localIoRegionSizeBytes="
                            + size
                            + ", expected=at least "
                            + least);
        }
        long needed = size == 0 ? volumeSizeBytes : size;
        requireWithinLimit(needed);
        IoMemory created = new IoMemory(device, needed);
        memory = created;
        return created;
    }

    /** Limits the memory that a service can make this process allocate. */
    private void requireWithinLimit(long neededBytes) {
        long limit = options.maxMemoryBytes();
        String limitedBy = "option --max-memory";
        if (limit == 0) {
            MemoryLimits.Free free = freeMemory();
            limit = free.bytes() / 2;
            limitedBy = "half of the free memory of " + free.limitedBy();
        }
        if (neededBytes > limit) {
            throw new DpuException(
                    Status.NO_MEMORY,
                    "memory for the data is above the limit: sizeBytes="
                            + neededBytes
                            + ", maxMemoryBytes="
                            + limit
                            + ", limitedBy="
                            + limitedBy
                            + ", expected=a storage that fits, or --max-memory="
                            + neededBytes
                            + " or more");
        }
    }

    private static MemoryLimits.Free freeMemory() {
        try {
            return MemoryLimits.free();
        } catch (UncheckedIOException | IllegalStateException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "free memory is unknown, set a limit by --max-memory: " + Reason.of(e),
                    e);
        }
    }

    private void init(ControlExchange exchange, IoMemory data, int transactions) {
        steps().begin(SessionStep.INIT, "");
        request(
                exchange,
                new ControlPayload.InitStorageRequest(
                        transactions, options.cpus().size(), data.export()),
                ControlMessageType.INIT_STORAGE_RESPONSE);
    }

    private void createWorkers(ComchClientControlChannel toService, int transactions) {
        for (int index = 0; index < options.cpus().size(); index++) {
            InitiatorWorker worker =
                    workers()
                            .add(
                                    new InitiatorWorker(
                                            new WorkerSlot(
                                                    index,
                                                    options.cpus().get(index),
                                                    options.waitMode()),
                                            device,
                                            transactions,
                                            controlTimeoutNanos,
                                            toService::wakeup));
            worker.execute(() -> worker.createObjects(toService.connection()));
        }
        steps().startTimeout();
        workers().awaitContextsReady(steps().remainingNanos());
    }

    private void start(ControlExchange exchange, ComchClientControlChannel toService) {
        steps().begin(SessionStep.START, "");
        loop().awaitUntil(
                        "waiting for the service's consumers",
                        controlTimeoutNanos,
                        () -> toService.connection().remoteConsumers().length >= workers().size());
        // Consumer ids rise with the index of their workers, on both sides.
        int[] consumers = toService.connection().remoteConsumers();
        Arrays.sort(consumers);
        for (InitiatorWorker worker : workers().inOrder()) {
            worker.execute(() -> worker.prepareTasks(consumers[worker.index()]));
        }
        request(
                exchange,
                new ControlPayload.StartStorageRequest(),
                ControlMessageType.START_STORAGE_RESPONSE);
        steps().startTimeout();
        workers().startDataPath(steps().remainingNanos());
    }

    /** Runs the phases up to the first failure, which is thrown after the pipeline was stopped. */
    private @Nullable DpuException runPhases(List<Phase> phases, IoMemory data, int transactions) {
        for (Phase phase : phases) {
            PhaseRunner runner = runner(phase, data, transactions);
            current = runner;
            PhaseRunner.Outcome outcome = runner.run();
            current = null;
            phaseReports.add(outcome.report());
            listener.phaseFinished(outcome.report());
            if (outcome.failure() != null) {
                return outcome.failure();
            }
        }
        return null;
    }

    private PhaseRunner runner(Phase phase, IoMemory data, int transactions) {
        return new PhaseRunner(
                phase,
                workers().inOrder(),
                data,
                volumeSizeBytes,
                blockSizeBytes,
                transactions,
                RELAYED_TIMEOUTS * controlTimeoutNanos,
                listener,
                loop());
    }

    private void stop(ControlExchange exchange) {
        steps().begin(SessionStep.STOP, "");
        workers().stopDataPath();
        request(
                exchange,
                new ControlPayload.StopStorageRequest(),
                ControlMessageType.STOP_STORAGE_RESPONSE);
        workers().stopContexts();
    }

    private void shutdown(ControlExchange exchange) {
        steps().begin(SessionStep.SHUTDOWN, "");
        request(
                exchange,
                new ControlPayload.ShutdownRequest(),
                ControlMessageType.SHUTDOWN_RESPONSE);
    }
}
