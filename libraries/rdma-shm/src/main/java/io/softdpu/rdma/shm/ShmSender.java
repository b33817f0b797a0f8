package io.softdpu.rdma.shm;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.copy.SlicedCopy;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.EngineTimer;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.MemoryServices;
import io.softdpu.core.spi.memory.Regions;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The send queue of a connection and the sending half of the peer's ring.
 *
 * <pre>
 *   head ............ executed ............ tail
 *    |  executed, not   |  waiting their turn  |
 *    |  yet completed   |                      |
 * </pre>
 *
 * <p>Work is executed in order: a send puts its fragments into the ring, a read or write copies
 * slice by slice. Of either kind one pass copies at most {@link Copier#SLICE_BYTES}: a peer that
 * takes fragments as fast as they come would keep the engine otherwise. It is completed in order
 * too: a send when the peer has released its last fragment, a read or write when it was copied. So
 * a send never overtakes the data of a write before it, since the store that publishes it comes
 * after the copy in this thread's order.
 */
final class ShmSender {
    /**
     * Publishing is immediate; a doorbell inside progress comes after this many messages at most.
     * Whether one is wanted takes a full fence to know, which waits for what was copied just
     * before: with 8 in place of 4 a target answers 5 % more reads, with 64 no more than that.
     */
    private static final int MESSAGES_A_DOORBELL = 8;

    /** What a network adapter's timer would wait between two tries of a send without a receive. */
    private static final long RNR_DELAY_NANOS = 1_000_000;

    private static final int RNR_FOREVER = 7;
    private static final Permissions READ_GRANT = Permissions.of(AccessFlag.RDMA_READ);
    private static final Permissions WRITE_GRANT = Permissions.of(AccessFlag.RDMA_WRITE);
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final ShmConnection connection;
    private final Copier copier;

    /** That of the read or write that is being executed. */
    private final SlicedCopy copy = new SlicedCopy();

    private final MessageRing.Producer producer;
    private final MemorySegment peerRegion;
    private final Link doorbell;
    private final int maxPayloadBytes;
    private final int rnrRetries;

    /** Ends the engine's sleep for the next try; null where a message waits for its receive. */
    private final @Nullable EngineTimer rnrTimer;

    private final @Nullable WorkRequest[] queue;
    private final int mask;
    private long head;
    private long executed;
    private long tail;
    private long messagesSent;
    private int unannounced;
    private long rnrSince;

    /** When an engine that sleeps has to look again; unspecified unless {@link #rnrWaiting}. */
    private long rnrNextNanos;

    private boolean rnrWaiting;

    /** Bytes that sends may still copy in this pass, or in this call outside of one. */
    private long sendBudgetBytes = Copier.SLICE_BYTES;

    ShmSender(
            ShmConnection connection,
            Copier copier,
            MemorySegment peerRegion,
            MessageRing.Geometry geometry,
            Link doorbell,
            int queueSize,
            int rnrRetries,
            @Nullable EngineTimer rnrTimer) {
        this.connection = connection;
        this.copier = copier;
        this.peerRegion = peerRegion;
        this.producer =
                MessageRing.producer(
                        peerRegion.asSlice(ShmWire.RING_OFFSET, geometry.sizeBytes()), geometry);
        this.doorbell = doorbell;
        this.maxPayloadBytes = geometry.maxPayloadBytes();
        this.rnrRetries = rnrRetries;
        this.rnrTimer = rnrTimer;
        this.queue = new @Nullable WorkRequest[queueSize];
        this.mask = queueSize - 1;
    }

    /**
     * The timer for the tries of a sender.
     *
     * @param services of the context, on whose engine's thread this is called
     * @return null where the tries are not limited
     */
    static @Nullable EngineTimer rnrTimer(ContextServices services, int rnrRetries) {
        // The context is asked in the progress that the timer ends the sleep for: nothing else to
        // do.
        return rnrRetries < RNR_FOREVER ? services.timer(() -> {}) : null;
    }

    /** The first message of a connection; the ring is empty. */
    void hello(ShmDetails.Key receiver, ShmDetails.Key sender) {
        long at = producer.claim();
        if (at < 0) {
            connection.protocolError("its ring, " + producer.violation()); // an empty one has room
            return;
        }
        MemorySegment ring = producer.segment();
        ring.set(ValueLayout.JAVA_INT, at, ShmWire.HELLO_VERSION);
        ring.set(ValueLayout.JAVA_INT, at + 4, 0);
        receiver.encode(ring, at + ShmWire.HELLO_RECEIVER_KEY_OFFSET);
        sender.encode(ring, at + ShmWire.HELLO_SENDER_KEY_OFFSET);
        producer.commit(ShmWire.OPCODE_HELLO, ShmWire.HELLO_BYTES, 0);
        unannounced++;
        announce();
    }

    /** A pass of progress begins. */
    void beginPass() {
        sendBudgetBytes = Copier.SLICE_BYTES;
    }

    /**
     * Queues work; a send that nothing stands before goes out at once, as far as the budget of the
     * pass allows, or that of this call outside of one.
     */
    Status submit(WorkRequest request, boolean insideProgress) {
        if (tail - head > mask) {
            return Status.AGAIN;
        }
        request.progressBytes = 0;
        request.providerWord = 0;
        queue[(int) tail & mask] = request;
        boolean next = executed == tail;
        tail++;
        if (next && request.kind == WorkRequest.Kind.SEND) {
            if (!insideProgress) {
                sendBudgetBytes = Copier.SLICE_BYTES;
            }
            execute(0);
            if (!insideProgress) {
                announce();
            }
        }
        return Status.SUCCESS;
    }

    /**
     * Executes what can be executed now: reads and writes within one slice together, sends within
     * what is left of the pass's.
     */
    boolean execute() {
        return executed != tail && execute(Copier.SLICE_BYTES);
    }

    private boolean execute(long copyBudgetBytes) {
        long budget = copyBudgetBytes;
        boolean moved = false;
        while (executed != tail) {
            WorkRequest request = at(executed);
            long before = request.progressBytes;
            boolean done;
            if (request.kind == WorkRequest.Kind.SEND) {
                done = send(request);
            } else {
                done = copy(request, budget);
                budget -= request.progressBytes - before;
            }
            moved |= done || request.progressBytes != before;
            if (!done) {
                break;
            }
            executed++;
        }
        return moved;
    }

    /**
     * Whether the whole message is in the ring; false where the ring is full, the budget is used
     * up, or the end has come.
     */
    private boolean send(WorkRequest request) {
        if (request.progressBytes == 0 && !receiverReady()) {
            return false;
        }
        long length = request.lengthBytes;
        do {
            long offset = request.progressBytes;
            int chunk = (int) Math.min(maxPayloadBytes, length - offset);
            if (chunk > sendBudgetBytes) { // what is left waits for the next pass
                return false;
            }
            long at = producer.claim();
            if (at < 0) {
                if (at == MessageRing.CORRUPT) {
                    connection.protocolError("its ring, " + producer.violation());
                }
                return false;
            }
            if (chunk > 0) {
                copier.message(
                        request.local, request.localOffset + offset, producer.segment(), at, chunk);
            }
            boolean first = offset == 0;
            boolean last = offset + chunk == length;
            int type =
                    ShmWire.OPCODE_SEND
                            | (first ? ShmWire.FLAG_FIRST : 0)
                            | (last ? ShmWire.FLAG_LAST : 0);
            producer.commit(type, chunk, first ? ShmWire.firstWord(length) : offset);
            request.progressBytes = offset + chunk;
            sendBudgetBytes -= chunk;
            if (++unannounced >= MESSAGES_A_DOORBELL) {
                announce();
            }
        } while (request.progressBytes < length);
        request.providerWord = producer.produced();
        messagesSent++;
        return true;
    }

    /**
     * Whether the peer has a receive for the next message, as far as it has said; asked only where
     * the tries are limited. Otherwise a message waits in the peer's ring for its receive.
     */
    private boolean receiverReady() {
        if (rnrRetries >= RNR_FOREVER) {
            return true;
        }
        long limit = (long) LONG.getAcquire(peerRegion, ShmWire.RECEIVE_LIMIT_OFFSET);
        if (messagesSent < limit) {
            rnrOver();
            return true;
        }
        long now = System.nanoTime();
        if (!rnrWaiting) {
            rnrWaiting = true;
            rnrSince = now;
        }
        long leftNanos = rnrRetries * RNR_DELAY_NANOS - (now - rnrSince);
        if (leftNanos <= 0) {
            connection.end(End.RECEIVER_NOT_READY);
        }
        rnrNextNanos = now + Math.min(leftNanos, RNR_DELAY_NANOS);
        return false;
    }

    private void rnrOver() {
        if (rnrWaiting) {
            rnrWaiting = false;
            cancelRnrTimer();
        }
    }

    private void cancelRnrTimer() {
        if (rnrTimer != null) {
            rnrTimer.cancel();
        }
    }

    /**
     * Has the engine look again after the delay, however long it sleeps: the peer rings for
     * messages, not for receives. One that polls sees the receive in any pass.
     *
     * @return whether it is time already
     */
    private boolean armRnrTimer() {
        long leftNanos = rnrNextNanos - System.nanoTime();
        if (leftNanos <= 0 || rnrTimer == null) {
            return true;
        }
        rnrTimer.set(leftNanos);
        return false;
    }

    /** Copies within the budget; whether the whole of it has been copied. */
    private boolean copy(WorkRequest request, long budget) {
        boolean read = request.kind == WorkRequest.Kind.READ;
        Buf target = Objects.requireNonNull(request.remote, "reads and writes have remote memory");
        Status usable = REGIONS.checkUse(target.mmap(), read ? READ_GRANT : WRITE_GRANT);
        if (usable != Status.SUCCESS) {
            connection.end(End.REMOTE_MEMORY_REVOKED, usable, End.REMOTE_MEMORY_REVOKED.reason);
            return false;
        }
        if (request.progressBytes == 0) {
            begin(request, REGIONS.segmentOf(target), read);
        }
        copy.advance(copier, budget);
        request.progressBytes = copy.copiedBytes();
        return copy.isDone();
    }

    private void begin(WorkRequest request, MemorySegment remote, boolean read) {
        if (read) {
            copy.begin(
                    remote,
                    request.remoteOffset,
                    request.local,
                    request.localOffset,
                    request.lengthBytes);
        } else {
            copy.begin(
                    request.local,
                    request.localOffset,
                    remote,
                    request.remoteOffset,
                    request.lengthBytes);
        }
    }

    /** Completes what is done, oldest first. */
    boolean complete() {
        if (head == executed) {
            return false;
        }
        long released = producer.consumed();
        if (released == MessageRing.CORRUPT) {
            connection.protocolError("its ring, " + producer.violation());
            return false;
        }
        long limit = executed;
        boolean moved = false;
        while (head != limit && released >= at(head).providerWord) {
            WorkRequest request = take();
            request.resultLengthBytes = request.lengthBytes;
            connection.completed(request, Status.SUCCESS);
            moved = true;
        }
        return moved;
    }

    /** Completes what the peer has acknowledged with success, and the rest as the end has it. */
    void flush(End end, Status guiltyStatus) {
        rnrOver();
        complete();
        boolean guiltyFound = false;
        while (head != tail) {
            boolean unexecuted = head >= executed;
            WorkRequest request = take();
            boolean guilty = !guiltyFound && isGuilty(end, request, unexecuted);
            guiltyFound |= guilty;
            connection.completed(request, guilty ? guiltyStatus : end.taskStatus);
        }
        executed = tail;
    }

    /** Whether this is the request that the connection has failed for; asked oldest first. */
    private static boolean isGuilty(End end, WorkRequest request, boolean unexecuted) {
        boolean send = request.kind == WorkRequest.Kind.SEND;
        return switch (end) {
            case RECEIVE_TOO_SMALL_THERE -> send;
            case RECEIVER_NOT_READY -> send && unexecuted;
            case REMOTE_MEMORY_REVOKED -> !send && unexecuted;
            case DISCONNECTED_HERE,
                    DISCONNECTED_THERE,
                    PEER_GONE,
                    FAILED_THERE,
                    RECEIVE_TOO_SMALL_HERE,
                    PROTOCOL_ERROR_HERE,
                    PROTOCOL_ERROR_THERE,
                    WRONG_PEER,
                    CONNECT_FAILED ->
                    false;
        };
    }

    /** Rings the peer if it sleeps and there is something that it was not told of. */
    void announce() {
        if (unannounced > 0) {
            unannounced = 0;
            if (producer.peerArmed()) {
                doorbell.ring();
            }
        }
    }

    /** What the peer says of its side of the connection. */
    int peerStatus() {
        return producer.status();
    }

    /** Asks for a doorbell on acknowledgements; true if there is something to do already. */
    boolean arm() {
        if (head == tail) {
            return false;
        }
        if (executed != tail && at(executed).kind != WorkRequest.Kind.SEND) {
            return true;
        }
        if (rnrWaiting) { // room in the ring is of no use then
            return producer.arm() || acknowledged() || producer.corrupt() || armRnrTimer();
        }
        // After arm() has looked at the index for the last time: a slot that was freed, or a
        // message that was acknowledged, before the peer could know that we sleep.
        return producer.arm()
                || (executed != tail && producer.free() > 0)
                || acknowledged()
                || producer.corrupt();
    }

    private boolean acknowledged() {
        return head != executed && producer.consumed() >= at(head).providerWord;
    }

    void disarm() {
        cancelRnrTimer(); // an engine that polls needs none
        producer.disarm();
    }

    private WorkRequest at(long position) {
        WorkRequest request = queue[(int) position & mask];
        if (request == null) {
            throw new IllegalStateException("send queue has a hole: position=" + position);
        }
        return request;
    }

    private WorkRequest take() {
        WorkRequest request = at(head);
        queue[(int) head & mask] = null;
        head++;
        return request;
    }
}
