package io.softdpu.storage.relay;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.comch.ComchProducer;
import io.softdpu.comch.ComchProducerSendTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.storage.worker.Counter;
import io.softdpu.storage.worker.MessageMemory;
import io.softdpu.storage.worker.RdmaPair;
import io.softdpu.storage.worker.RetryQueue;
import io.softdpu.storage.worker.Worker;
import io.softdpu.storage.worker.WorkerSlot;
import org.jspecify.annotations.Nullable;

/**
 * Data path thread of the service. A request is received by the consumer and forwarded by an RDMA
 * send of the same buf; a response is received by an RDMA receive task and forwarded by a producer
 * send of the same buf. The 64 bytes are not read.
 *
 * <p>Slots 0 to n - 1 of the message memory hold requests, n to 2n - 1 responses, where n is twice
 * the initiator's transaction count: a buffer is posted even if each transaction is submitted again
 * before this side has completed the previous send.
 */
final class RelayWorker extends Worker {
    private final Device device;
    private final String provider;
    private final int slots;

    private @Nullable MessageMemory messages;
    private @Nullable RdmaPair rdma;
    private @Nullable ComchConsumer consumer;
    private @Nullable ComchProducer producer;

    private ComchPostReceiveTask[] requestReceives = {};
    private RdmaSendTask[] requestSends = {};
    private RdmaReceiveTask[] responseReceives = {};
    private ComchProducerSendTask[] responseSends = {};

    // Requests are retried first.
    private final RetryQueue requestQueue;
    private final RetryQueue responseQueue;

    private final Counter requests = new Counter();
    private final Counter responses = new Counter();
    private long responsesSent;

    RelayWorker(
            WorkerSlot slot,
            Device device,
            String provider,
            int transactionCount,
            long controlTimeoutNanos,
            Runnable notifyControl) {
        super("zero-copy", slot, controlTimeoutNanos, notifyControl);
        this.device = device;
        this.provider = provider;
        this.slots = transactionCount;
        this.requestQueue = retryQueue(slots, this::trySendRequest);
        this.responseQueue = retryQueue(slots, this::trySendResponse);
    }

    // ---- commands of the configuration phase

    /**
     * Creates the memory, the consumer, the producer and the two RDMA contexts, and starts them.
     */
    void createObjects(ComchConnection connection, long timeoutNanos) {
        MessageMemory memory =
                new MessageMemory(
                        device,
                        2 * slots,
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE));
        messages = memory;
        ComchConsumer createdConsumer = manage(ComchConsumer.create(connection, memory.mmap()));
        consumer = createdConsumer;
        createdConsumer.setPostReceiveTasks(slots, this::requestReceived, this::requestNotReceived);
        ComchProducer createdProducer = manage(ComchProducer.create(connection));
        producer = createdProducer;
        createdProducer.setSendTasks(slots, this::responseSent, this::responseNotSent);
        RdmaPair pair = new RdmaPair(manage(Rdma.create(device)), manage(Rdma.create(device)));
        rdma = pair;
        pair.setProvider(provider);
        // Submits nothing on this side; the target reads and writes the initiator's memory through
        // it.
        pair.context(RdmaConnectionRole.IO_DATA)
                .setPermissions(Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE));
        pair.configureMessages(
                slots,
                this::requestSent,
                this::requestNotSent,
                this::responseReceived,
                this::responseNotReceived);
        createdConsumer.start();
        createdProducer.start();
        pair.start(timeoutNanos);
        // The contexts become RUNNING later, while the control thread does other things.
        log().log(
                        System.Logger.Level.DEBUG,
                        () ->
                                "objects created: worker="
                                        + index()
                                        + ", device="
                                        + device
                                        + ", connection="
                                        + connection
                                        + ", transactionCount="
                                        + slots
                                        + ", notRunning="
                                        + contextsNotReady());
    }

    /** Exports one of the RDMA connections. */
    Blob exportConnection(RdmaConnectionRole role) {
        return require(rdma).export(role);
    }

    /** Connects one of the RDMA contexts to the target's. */
    void connect(RdmaConnectionRole role, Blob details) {
        require(rdma).connect(role, details);
    }

    /** Allocates all tasks; their user data is the index of their slot. */
    void prepareTasks(int remoteConsumerId) {
        MessageMemory memory = require(messages);
        RdmaConnection control = require(rdma).connection(RdmaConnectionRole.IO_CONTROL);
        Rdma context = control.context();
        servedBy(require(rdma));
        requestReceives = new ComchPostReceiveTask[slots];
        requestSends = new RdmaSendTask[slots];
        responseReceives = new RdmaReceiveTask[slots];
        responseSends = new ComchProducerSendTask[slots];
        for (int i = 0; i < slots; i++) {
            requestReceives[i] = track(require(consumer).allocatePostReceiveTask(memory.buf(i)));
            requestReceives[i].setUserData(i);
            requestSends[i] = track(context.allocateSend(control, memory.buf(i)));
            requestSends[i].setUserData(i);
            responseReceives[i] = track(context.allocateReceive(memory.buf(slots + i)));
            responseReceives[i].setUserData(i);
            responseSends[i] =
                    track(
                            require(producer)
                                    .allocateSendTask(memory.buf(slots + i), remoteConsumerId));
            responseSends[i].setUserData(i);
        }
    }

    /** Number of requests received from the initiator. Any thread. */
    long requests() {
        return requests.get();
    }

    /** Number of responses received from the target. Any thread. */
    long responses() {
        return responses.get();
    }

    // ---- the data path

    @Override
    protected void beginDataPath() {
        for (int i = 0; i < slots; i++) {
            responseReceives[i].submit();
            requestReceives[i].submit();
        }
    }

    @Override
    protected int inFlight() {
        return (int) (requests.get() - responsesSent);
    }

    private void requestReceived(ComchPostReceiveTask task) {
        requests.add(1);
        requestQueue.submit((int) task.userData());
    }

    private void requestSent(RdmaSendTask task) {
        int slot = (int) task.userData();
        require(messages).clear(slot);
        requireAccepted(requestReceives[slot].trySubmit(), "request could not be awaited");
    }

    private void responseReceived(RdmaReceiveTask task) {
        responses.add(1);
        if (responses.get() > requests.get()) {
            fail(
                    new DpuException(
                            Status.UNEXPECTED,
                            "target sent a response without a request: worker=" + index()));
            return;
        }
        responseQueue.submit((int) task.userData());
    }

    private void responseSent(ComchProducerSendTask task) {
        responsesSent++;
        completed(IoType.RESULT, 0); // the messages are not looked at
        int slot = (int) task.userData();
        require(messages).clear(slots + slot);
        requireAccepted(responseReceives[slot].trySubmit(), "response could not be awaited");
    }

    private boolean trySendRequest(int slot) {
        return isAccepted(requestSends[slot].trySubmit(), "request could not be sent");
    }

    private boolean trySendResponse(int slot) {
        return isAccepted(responseSends[slot].trySubmit(), "response could not be sent");
    }

    private void requestNotReceived(ComchPostReceiveTask task) {
        taskFailed("request was not received", task.status());
    }

    private void requestNotSent(RdmaSendTask task) {
        taskFailed("request was not sent", task.status());
    }

    private void responseNotReceived(RdmaReceiveTask task) {
        taskFailed("response was not received", task.status());
    }

    private void responseNotSent(ComchProducerSendTask task) {
        taskFailed("response was not sent", task.status());
    }

    // ---- objects

    @Override
    protected void releaseObjects() {
        if (messages != null) {
            messages.close();
        }
    }
}
