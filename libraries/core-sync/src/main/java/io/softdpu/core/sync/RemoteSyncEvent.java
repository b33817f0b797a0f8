package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.bus.ExportedMemory;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.core.sync.access.RemoteEventAccess;
import io.softdpu.core.sync.wire.RemoteEventBlob;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Sync event of an RDMA peer (RDMA guide, remote DOCA sync event): made of the peer's {@link
 * SyncEvent#exportRdma}, and read, set and added to by tasks of an RDMA instance that is connected
 * with that peer. It has no operations of its own. An update ends the waits for the event, in any
 * process, without action by the peer's program: those of {@link SyncEvent}, its tasks and its
 * jobs. It does not wake an engine whose program only looks at {@link SyncEvent#get()}.
 *
 * <pre>{@code
 * RemoteSyncEvent event = RemoteSyncEvent.createFromExport(blobOfPeer, device);
 * rdma.allocateRemoteSyncEventNotifyAdd(connection, event, result, 1).submit();
 * }</pre>
 *
 * <p>When the peer destroys its event, tasks with this one fail with SHUTDOWN, and if the peer's
 * process was killed, with CONNECTION_RESET; one in flight ends its connection, and an add stops
 * the instance, too. Closing this one has no effect on the peer's.
 *
 * <p>Any thread.
 */
public final class RemoteSyncEvent implements AutoCloseable {
    private static final AtomicInteger LAST_NUMBER = new AtomicInteger();
    private static final int CLOSED = -1;
    private static final VarHandle TASKS;

    static {
        try {
            TASKS = MethodHandles.lookup().findVarHandle(RemoteSyncEvent.class, "tasks", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        RemoteEventAccess.install(new Access());
    }

    private final int number = LAST_NUMBER.incrementAndGet();
    private final Device device;
    private final Counter counter;
    private final EventHold hold;

    /** Number of tasks in flight; CLOSED if it is closed. */
    @SuppressWarnings("unused") // through TASKS
    private volatile int tasks;

    private RemoteSyncEvent(Device device, RemoteEventBlob blob, boolean joins, long timeoutNanos) {
        this.device = device;
        String name = nameOf(number, device);
        this.hold = new EventHold(device, name);
        hold.acquire(null);
        boolean joined = false;
        try {
            DpuHandle handle =
                    joins
                            ? HandleImport.join(
                                    ImportKind.REMOTE_EVENT,
                                    HandleImport.busOf(device),
                                    blob.eventId(),
                                    blob.key(),
                                    blob,
                                    timeoutNanos)
                            : null;
            this.counter = new Counter(handle, blob, name);
            joined = true;
        } finally {
            if (!joined) {
                hold.release();
            }
        }
    }

    /**
     * Creates a remote event from an export; waits for the reply of the exporter for up to {@link
     * SyncEvent#DEFAULT_IMPORT_TIMEOUT}.
     *
     * @throws DpuException as {@link #createFromExport(byte[], Device, Duration)}
     */
    public static RemoteSyncEvent createFromExport(byte[] blob, Device device) {
        return createFromExport(blob, device, SyncEvent.DEFAULT_IMPORT_TIMEOUT);
    }

    /**
     * Creates a remote event from an export. The program of the exporter need not participate and
     * may sleep or compute. The device cannot be closed before the event.
     *
     * <p>An event of another kernel or fabric folder is imported from the blob alone: the exporter
     * is not asked, and nothing tells of its end but the peer, which refuses the operation.
     *
     * @param blob the result of the peer's {@link SyncEvent#exportRdma}
     * @param device the device of the RDMA instance whose tasks use the event
     * @param timeout for the reply of the exporter; {@link
     *     io.softdpu.core.execution.Deadline#NO_LIMIT} for none
     * @throws DpuException INVALID_VALUE if a field of the blob is wrong; UNSUPPORTED_VERSION for a
     *     blob of another version; NOT_FOUND if the event was stopped or has ended; BAD_CONFIG if
     *     it comes from another topology, of this fabric folder; FULL if the event has {@link
     *     SyncEventCapabilities#maxRemoteEvents()} remote ones already; TIME_OUT if the exporter
     *     does not reply; BAD_STATE if the device is closed
     */
    public static RemoteSyncEvent createFromExport(byte[] blob, Device device, Duration timeout) {
        Arguments.notNull(blob, "blob");
        Arguments.notNull(device, "device");
        long timeoutNanos = Arguments.positiveNanos(timeout, "timeout");
        RemoteEventBlob decoded = RemoteEventBlob.decode(blob);
        boolean joins = HandleImport.joins(decoded, device);
        return new RemoteSyncEvent(device, decoded, joins, timeoutNanos);
    }

    /** Its device. */
    public Device device() {
        return device;
    }

    /** Whether it is closed. */
    public boolean isClosed() {
        return tasks == CLOSED;
    }

    /**
     * Closes it; idempotent. The event itself goes on.
     *
     * @throws DpuException IN_USE while tasks with it are in flight
     */
    @Override
    public void close() {
        if (!TASKS.compareAndSet(this, 0, CLOSED)) {
            int present = tasks;
            if (present == CLOSED) {
                return;
            }
            throw new DpuException(
                    Status.IN_USE,
                    Text.format(
                            "tasks with the remote sync event are in flight: tasks=%d, event=%s,"
                                    + " expected=their completion first",
                            present, this));
        }
        counter.close();
        hold.release();
    }

    @SuppressWarnings("ReferenceEquality") // devices are objects, not values
    private @Nullable Refusal mark(Device user) {
        int present;
        do {
            present = tasks;
            if (present == CLOSED) {
                return Refusal.of(
                        Status.BAD_STATE,
                        "remote sync event is closed: event=%s, expected=an open one",
                        this);
            }
        } while (!TASKS.compareAndSet(this, present, present + 1));
        Refusal refusal = user == device ? counter.checkAlive() : ofOtherDevice(user);
        if (refusal != null) {
            clear();
        }
        return refusal;
    }

    private Refusal ofOtherDevice(Device user) {
        return Refusal.of(
                Status.NOT_PERMITTED,
                "remote sync event was created for another device: event=%s, device=%s,"
                        + " expected=createFromExport with the device of the RDMA instance",
                this,
                user);
    }

    private void clear() {
        TASKS.getAndAdd(this, -1);
    }

    private static String nameOf(int number, Device device) {
        return Text.format("remote sync event %d of %s", number, device);
    }

    /** Its kind and number in this process, for messages. */
    @Override
    public String toString() {
        return nameOf(number, device);
    }

    /**
     * The counter as memory of a peer. Any thread, while it is open.
     *
     * @param handle joined to the event; null for one of another kernel or fabric folder
     * @param blob of the event
     * @param event its name, for messages
     */
    private record Counter(@Nullable DpuHandle handle, RemoteEventBlob blob, String event)
            implements ExportedMemory {
        @Override
        public @Nullable Refusal checkAlive() {
            Status ended = handle == null ? Status.SUCCESS : handle.ended();
            return ended == Status.SUCCESS ? null : ended(ended);
        }

        @Override
        public @Nullable MemorySegment memory() {
            return handle == null ? null : handle.memory();
        }

        @Override
        public RegionAddress.Id exporter() {
            return blob.busId();
        }

        @Override
        public long address() {
            return blob.address();
        }

        @Override
        public int key() {
            return blob.remoteKey();
        }

        @Override
        public boolean isOf(byte[] gid) {
            return blob.hasGid(gid);
        }

        @Override
        public boolean isOnBus() {
            return handle != null;
        }

        private Refusal ended(Status ended) {
            return Refusal.of(
                    ended,
                    "%s: event=%s, expected=a new export of another sync event",
                    ended == Status.SHUTDOWN
                            ? "sync event was destroyed"
                            : "process of the sync event has ended",
                    event);
        }

        @Override
        public void changed() {
            if (handle != null) {
                handle.changed();
            }
        }

        void close() {
            if (handle != null) {
                handle.close();
            }
        }

        /** Its name, for messages. */
        @Override
        public String toString() {
            return event;
        }
    }

    private static final class Access extends RemoteEventAccess<RemoteSyncEvent> {
        @Override
        public @Nullable Refusal mark(RemoteSyncEvent event, Device device) {
            return event.mark(device);
        }

        @Override
        public void clear(RemoteSyncEvent event) {
            event.clear();
        }

        @Override
        public RemoteMemory counterOf(RemoteSyncEvent event) {
            return event.counter;
        }
    }
}
