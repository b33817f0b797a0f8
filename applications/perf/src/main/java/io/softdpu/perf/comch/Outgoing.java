package io.softdpu.perf.comch;

import io.softdpu.comch.ComchProducer;
import io.softdpu.comch.ComchProducerSendTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import java.util.Objects;

/** The messages of a producer, and the set of free ones. Belongs to one thread. */
final class Outgoing {
    private final MessagePool messages;
    private final ComchProducer producer;
    private final boolean stamped;
    private final ComchProducerSendTask[] idleSends;
    private int idle;
    private int total;

    /**
     * Takes the producer's callbacks.
     *
     * @param producer not started yet
     */
    Outgoing(ComchPlan plan, MessagePool messages, ComchProducer producer) {
        this.messages = messages;
        this.producer = producer;
        stamped = plan.isStamped();
        idleSends = new ComchProducerSendTask[plan.window()];
        producer.setSendTasks(idleSends.length, this::done, this::done);
    }

    /** Makes all tasks; the producer is RUNNING. */
    void fill(int remoteConsumer) {
        while (total < idleSends.length) {
            Buf buf = messages.buf(total);
            buf.setData(buf.offset(), buf.length());
            done(producer.allocateSendTask(buf, remoteConsumer));
            total++;
        }
    }

    /** True if all messages are in buffers of the peer. */
    boolean allSent() {
        return idle == total;
    }

    /**
     * Sends a message; false if none is free, or the other side has no buffer for it just now.
     *
     * @param stamp what it is to begin with, where the plan's messages are stamped
     * @throws DpuException CONNECTION_RESET if the peer has ended
     */
    boolean trySend(long stamp) {
        if (idle == 0) {
            return false;
        }
        ComchProducerSendTask task = idleSends[idle - 1];
        if (stamped) {
            messages.setStamp(Objects.requireNonNull(task.buf()), stamp);
        }
        Status status = task.trySubmit();
        if (status == Status.SUCCESS) {
            idle--;
            return true;
        }
        if (status != Status.AGAIN) {
            throw MessagePath.refused(status, producer.connection());
        }
        return false;
    }

    /** Frees those that are not under way: a producer stops when all are free. */
    void freeIdle() {
        while (idle > 0) {
            idleSends[--idle].free();
        }
    }

    private void done(ComchProducerSendTask task) {
        idleSends[idle++] = task; // one that failed, too: it is freed with the others
    }
}
