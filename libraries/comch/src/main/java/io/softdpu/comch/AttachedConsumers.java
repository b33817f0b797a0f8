package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.fabric.error.FabricException;
import java.util.Arrays;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Consumers of the peer that one producer sends to: attached by the first send to each, detached
 * after they have expired. Doorbells and waits for buffers of all of them. The thread of the
 * producer's engine; sends to attached consumers allocate nothing.
 */
final class AttachedConsumers {
    /**
     * Submissions after which a sleeping consumer is woken without waiting for the next progress.
     */
    private static final int DOORBELL_BATCH = 8;

    private final ConsumerRegistry registry;
    private final AttachedConsumer[] attached = new AttachedConsumer[ChannelLimits.MAX_CONSUMERS];
    private int count;

    /** Number of consumers whose buffers the producer waits for. */
    private int waiting;

    private boolean doorbellsDue;
    private int sendsSinceDoorbell;

    /** Only ends a sleep beside buffers that are kept for others: the next pass compares times. */
    private @Nullable EngineTimer keepTimer;

    AttachedConsumers(ConsumerRegistry registry) {
        this.registry = registry;
    }

    /**
     * Finds a consumer, and attaches it if necessary.
     *
     * @return null if there is none with this id
     * @throws FabricException if the engine cannot listen for its doorbell
     */
    @Nullable AttachedConsumer find(int consumerId, ContextServices services) {
        for (int i = 0; i < count; i++) {
            if (attached[i].remote().id() == consumerId) {
                return attached[i];
            }
        }
        RemoteConsumer found = registry.find(consumerId);
        if (found == null || count == attached.length || !found.retain()) {
            return null;
        }
        try {
            BusServices.poller(services).add(found.link(), found.credit()::wakeWaiters);
        } catch (FabricException e) {
            found.release();
            throw e;
        }
        AttachedConsumer added =
                new AttachedConsumer(found, new CreditWaiter(found.credit(), services::wake));
        attached[count++] = added;
        return added;
    }

    /**
     * The refusal of a send whose consumer was not found.
     *
     * @param failure that of the producer, which the attempt to attach it may have failed
     */
    Refusal notFound(int consumerId, @Nullable DpuException failure) {
        return Refusal.of(
                Status.NOT_FOUND,
                failure,
                "peer has no consumer with this id: consumerId=%d%s, expected=one of %s, by"
                        + " ComchConnection.remoteConsumers()",
                consumerId,
                failure == null ? "" : ", failure=" + failure.status(),
                Arrays.toString(registry.remoteIds()));
    }

    /** Detaches all. */
    void detachAll(ContextServices services) {
        while (count > 0) {
            detach(count - 1, services);
        }
    }

    /** Detaches the expired ones that are not in use. */
    void detachExpired(Predicate<AttachedConsumer> inUse, ContextServices services) {
        for (int i = count - 1; i >= 0; i--) {
            AttachedConsumer consumer = attached[i];
            if (consumer.remote().expired() && !inUse.test(consumer)) {
                detach(i, services);
            }
        }
    }

    @SuppressWarnings("NullAway") // the end of the array beyond count is empty
    private void detach(int index, ContextServices services) {
        AttachedConsumer consumer = attached[index];
        endWaiting(consumer.waiter());
        BusServices.poller(services).remove(consumer.remote().link());
        count--;
        attached[index] = attached[count];
        attached[count] = null;
        consumer.detached(); // tasks may keep it
        consumer.remote().release();
    }

    /** A pass of progress begins. */
    void passBegins() {
        for (int i = 0; i < count; i++) {
            attached[i].lookAgain();
        }
    }

    // ---- doorbells ----

    boolean areDoorbellsDue() {
        return doorbellsDue;
    }

    /** A message was sent to this consumer: its doorbell is due. */
    void sent(AttachedConsumer to) {
        to.sent();
        doorbellsDue = true;
        if (++sendsSinceDoorbell >= DOORBELL_BATCH) {
            ringDoorbells();
        }
    }

    /** Wakes the consumers that sleep and that messages were sent to. */
    void ringDoorbells() {
        if (!doorbellsDue) {
            return;
        }
        for (int i = 0; i < count; i++) {
            attached[i].ringIfDue();
        }
        doorbellsDue = false;
        sendsSinceDoorbell = 0;
    }

    // ---- waiting for buffers ----

    /** A submission has found no buffer. */
    void beginWaiting(CreditWaiter waiter) {
        if (!waiter.isWaiting()) {
            waiting++;
        }
        waiter.begin();
    }

    /** A submission has found a buffer, or has failed for another reason. */
    void endWaiting(CreditWaiter waiter) {
        if (waiter.isWaiting()) {
            waiter.end();
            waiting--;
        }
    }

    /** Looks for buffers that sends have waited for; true if there are some. Inside progress. */
    boolean buffersArrived() {
        boolean arrived = false;
        for (int i = 0; i < count && waiting > 0; i++) {
            CreditWaiter waiter = attached[i].waiter();
            if (waiter.isWaiting()) {
                arrived |= waiter.progress();
                countEnded(waiter);
            }
        }
        return arrived;
    }

    /** Requests wake-ups for buffers; true if there are some already: do not sleep. */
    boolean arm(ContextServices services) {
        boolean ready = false;
        for (int i = 0; i < count && waiting > 0; i++) {
            CreditWaiter waiter = attached[i].waiter();
            if (waiter.isWaiting()) {
                ready |= waiter.arm();
                countEnded(waiter);
                if (waiter.isBehindOthers()) {
                    endSleepWhenKeptForLong(services);
                }
            }
        }
        return ready;
    }

    /** Cancels {@link #arm}. */
    void disarm() {
        for (int i = 0; i < count && waiting > 0; i++) {
            attached[i].waiter().disarm();
        }
        if (keepTimer != null && waiting > 0) {
            keepTimer.cancel();
        }
    }

    /** Counts a waiter that has ended by itself. */
    private void countEnded(CreditWaiter waiter) {
        if (!waiter.isWaiting()) {
            waiting--;
        }
    }

    private void endSleepWhenKeptForLong(ContextServices services) {
        EngineTimer timer = keepTimer;
        if (timer == null) { // rarely needed, and an engine with a timer reads the clock
            timer = services.timer(() -> {});
            keepTimer = timer;
        }
        timer.setAt(System.nanoTime() + CreditQueue.KEEP_NANOS);
    }
}
