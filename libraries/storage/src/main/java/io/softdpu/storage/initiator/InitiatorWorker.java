package io.softdpu.storage.initiator;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.comch.ComchProducer;
import io.softdpu.comch.ComchProducerSendTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.worker.MessageMemory;
import io.softdpu.storage.worker.RetryQueue;
import io.softdpu.storage.worker.Worker;
import io.softdpu.storage.worker.WorkerSlot;
import io.softdpu.storage.workload.IoRequest;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Data path thread of the initiator. It has n transactions, 2n posted buffers for responses and 3n
 * messages. A transaction is free again when its send has completed, before which its message must
 * not be written, and its response was received.
 */
final class InitiatorWorker extends Worker {
    private static final int SENDING = 1;
    private static final int AWAITING_REPLY = 2;
    private static final int PAUSED = 4;

    private final Device device;
    private final int transactions;

    private @Nullable MessageMemory messages;
    private @Nullable ComchConsumer consumer;
    private @Nullable ComchProducer producer;
    private ComchProducerSendTask[] sends = {};
    private ComchPostReceiveTask[] receives = {};
    private final RetryQueue sendQueue;

    private final IoRequest request = new IoRequest();
    private final int[] states;
    private final long[] startNanos;
    private final int[] sizes;
    private final long[] storageOffsets;
    private final long[] dueNanos;
    private final long[] wasDueNanos;
    private final Histogram latencies = PhaseRun.newLatencies();
    private final LiveLatencies liveLatencies = new LiveLatencies();
    private int inFlight;
    private int paused;

    private volatile @Nullable PhaseRun next;
    private @Nullable PhaseRun current;

    InitiatorWorker(
            WorkerSlot slot,
            Device device,
            int transactions,
            long controlTimeoutNanos,
            Runnable notifyControl) {
        super("initiator", slot, controlTimeoutNanos, notifyControl);
        this.device = device;
        this.transactions = transactions;
        this.sendQueue = retryQueue(transactions, this::trySend);
        this.states = new int[transactions];
        this.startNanos = new long[transactions];
        this.sizes = new int[transactions];
        this.storageOffsets = new long[transactions];
        this.dueNanos = new long[transactions];
        this.wasDueNanos = new long[transactions];
    }

    // ---- commands of the configuration phase

    /** Creates the messages, the consumer and the producer, and starts the latter two. */
    void createObjects(ComchConnection connection) {
        MessageMemory memory =
                new MessageMemory(
                        device,
                        3 * transactions,
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE));
        messages = memory;
        ComchConsumer createdConsumer = manage(ComchConsumer.create(connection, memory.mmap()));
        consumer = createdConsumer;
        createdConsumer.setPostReceiveTasks(
                2 * transactions, this::replyReceived, this::replyNotReceived);
        ComchProducer createdProducer = manage(ComchProducer.create(connection));
        producer = createdProducer;
        createdProducer.setSendTasks(transactions, this::requestSent, this::requestNotSent);
        createdConsumer.start();
        createdProducer.start();
    }

    /** Allocates all tasks: transaction t has message t, posted buffer r has message n + r. */
    void prepareTasks(int remoteConsumerId) {
        MessageMemory memory = require(messages);
        sends = new ComchProducerSendTask[transactions];
        for (int t = 0; t < transactions; t++) {
            sends[t] = track(require(producer).allocateSendTask(memory.buf(t), remoteConsumerId));
            sends[t].setUserData(t);
        }
        receives = new ComchPostReceiveTask[2 * transactions];
        for (int r = 0; r < receives.length; r++) {
            receives[r] =
                    track(require(consumer).allocatePostReceiveTask(memory.buf(transactions + r)));
            receives[r].setUserData(transactions + r);
        }
    }

    // ---- the data path

    /** Counts of latencies of all phases. Any thread. */
    LiveLatencies liveLatencies() {
        return liveLatencies;
    }

    /** Histogram of latencies, used by one phase after the other. */
    Histogram latencies() {
        return latencies;
    }

    /** Starts a phase, after the previous one is done. On the control thread. */
    void runPhase(PhaseRun run) {
        next = run;
        wakeUp();
    }

    @Override
    protected void beginDataPath() {
        for (ComchPostReceiveTask receive : receives) {
            receive.submit();
        }
    }

    @Override
    protected int inFlight() {
        return inFlight;
    }

    @Override
    protected void onRound() {
        PhaseRun run = next;
        if (run != current && run != null) {
            current = run;
            begin(run);
        } else if (paused > 0 && run != null) {
            resumePaused(run, System.nanoTime());
        }
    }

    @Override
    protected void awaitWork(ProgressEngine engine, Duration longest) {
        PhaseRun run = current;
        if (paused == 0 || run == null) {
            super.awaitWork(engine, longest);
            return;
        }
        long now = System.nanoTime();
        long leftNanos = shorter(longest, IDLE_WAIT).toNanos();
        for (int t = 0; t < run.transactions; t++) {
            if (states[t] == PAUSED) {
                leftNanos = Math.min(leftNanos, run.pauseEndNanos(dueNanos[t]) - now);
            }
        }
        engine.awaitUntil(now + leftNanos);
    }

    @Override
    protected void endDataPath() {
        PhaseRun run = current;
        if (run != null && !run.done) { // the session was aborted
            run.count(engine(), refusedSubmissions());
        }
    }

    private void begin(PhaseRun run) {
        run.begin(engine(), refusedSubmissions());
        for (int t = 0; t < run.transactions; t++) {
            dueNanos[t] = run.startNanos;
            if (!issue(run, t, run.startNanos)) {
                break;
            }
        }
        if (inFlight == 0) {
            end(run);
        }
    }

    /** Sends the next request on a free transaction; false if there is no further request. */
    private boolean issue(PhaseRun run, int t, long nowNanos) {
        if (!isRunning() || !run.mayIssue(nowNanos) || !run.source.next(t, request)) {
            return false;
        }
        run.issued++;
        sizes[t] = request.sizeBytes();
        storageOffsets[t] = request.storageOffset();
        MessageMemory memory = require(messages);
        IoMessageView.write(
                memory.segment(),
                memory.at(t),
                request.type().code(),
                t,
                0,
                request.sizeBytes(),
                request.requesterOffset(),
                request.storageOffset());
        memory.fill(t);
        states[t] = SENDING | AWAITING_REPLY;
        wasDueNanos[t] = dueNanos[t];
        // Relative to the due time, not to now, so that delays do not accumulate.
        dueNanos[t] = Math.max(dueNanos[t], nowNanos - run.paceNanos) + run.paceNanos;
        startNanos[t] = nowNanos;
        inFlight++;
        sendQueue.submit(t);
        return true;
    }

    private boolean trySend(int t) {
        return isAccepted(sends[t].trySubmit(), "request could not be sent");
    }

    private void requestSent(ComchProducerSendTask task) {
        int t = (int) task.userData();
        states[t] &= ~SENDING;
        if (states[t] == 0) {
            finished(t, System.nanoTime());
        }
    }

    private void replyReceived(ComchPostReceiveTask task) {
        int message = (int) task.userData();
        MessageMemory memory = require(messages);
        MemorySegment segment = memory.segment();
        long at = memory.at(message);
        // The service may still write to this memory: each field is read once, checked, then used.
        int type = IoMessageView.type(segment, at);
        long userData = IoMessageView.userData(segment, at);
        int result = IoMessageView.result(segment, at);
        PhaseRun run = current;
        if (task.receivedLength() != IoMessageView.WIRE_BYTES
                || type != IoType.RESULT.code()
                || userData < 0
                || userData >= transactions
                || (states[(int) userData] & AWAITING_REPLY) == 0
                || run == null) {
            fail(illegalReply(task.receivedLength(), type, userData));
            return;
        }
        int t = (int) userData;
        long now = System.nanoTime();
        completed(run.type, result == 0 ? sizes[t] : 0);
        run.completed(now, startNanos[t], wasDueNanos[t]);
        liveLatencies.record(now - startNanos[t]);
        if (result != 0) {
            errors.add(1);
            run.failed(result, storageOffsets[t], sizes[t]);
        }
        memory.clear(message);
        requireAccepted(task.trySubmit(), "reply could not be awaited");
        states[t] &= ~AWAITING_REPLY;
        if (states[t] == 0) {
            finished(t, now);
        }
    }

    private void finished(int t, long nowNanos) {
        inFlight--;
        PhaseRun run = current;
        if (run == null) {
            return;
        }
        if (run.paceNanos > 0 && nowNanos < dueNanos[t]) {
            states[t] = PAUSED;
            paused++;
        } else if (!issue(run, t, nowNanos)) {
            endIfIdle(run);
        }
    }

    private void resumePaused(PhaseRun run, long nowNanos) {
        boolean over = !isRunning() || !run.mayIssue(nowNanos);
        for (int t = 0; t < run.transactions; t++) {
            if (states[t] == PAUSED && (over || nowNanos >= dueNanos[t])) {
                states[t] = 0;
                paused--;
                if (!issue(run, t, nowNanos)) {
                    endIfIdle(run);
                }
            }
        }
    }

    private void endIfIdle(PhaseRun run) {
        if (inFlight == 0 && paused == 0) {
            end(run);
        }
    }

    private void end(PhaseRun run) {
        run.endNanos = System.nanoTime();
        run.count(engine(), refusedSubmissions());
        run.done = true;
        notifyControl();
    }

    private DpuException illegalReply(long length, int type, long userData) {
        return new DpuException(
                Status.UNEXPECTED,
                "reply belongs to no transaction: worker="
                        + index()
                        + ", lengthBytes="
                        + length
                        + ", type="
                        + Integer.toUnsignedString(type)
                        + ", userData="
                        + Long.toUnsignedString(userData)
                        + ", expected=a result of 64 bytes for one of "
                        + transactions
                        + " transactions in flight");
    }

    private void replyNotReceived(ComchPostReceiveTask task) {
        taskFailed("reply was not received", task.status());
    }

    private void requestNotSent(ComchProducerSendTask task) {
        taskFailed("request was not sent", task.status());
    }

    @Override
    protected void releaseObjects() {
        if (messages != null) {
            messages.close();
        }
    }
}
