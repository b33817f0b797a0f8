package io.softdpu.core.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.spi.LibraryObject;
import io.softdpu.core.sync.wire.SyncEventBlob;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Sync event: an unsigned counter of 64 bits that programs of host and DPU update, read and wait
 * for (Core guide, section 3.4.6). It wraps, and starts at 0.
 *
 * <p>{@link #create} makes the CPU handle, which is configured with a publisher and a subscriber
 * location and started: in synchronous mode by {@link #start()}, where each operation returns when
 * it is done, or in asynchronous mode through {@link #asContext()}, as tasks on a progress engine
 * or jobs on work queues. {@link #exportPci} gives a blob from which a program of the DPU makes a
 * DPU handle, started independently in either mode; {@link #exportRdma} one from which an RDMA peer
 * makes a {@link RemoteSyncEvent}, for its tasks. Locations are hints and no access rights: each
 * handle updates and waits.
 *
 * <pre>{@code
 * SyncEvent event = SyncEvent.create(device)
 *         .addPublisherLocation(SyncEventLocation.CPU)
 *         .addSubscriberLocation(SyncEventLocation.DPU)
 *         .start();
 * byte[] blob = event.exportPci(device); // to be sent to the DPU
 * event.set(1);
 * event.waitGreater(1, SyncEvent.ALL_BITS, timeout); // until the DPU has added 1
 * event.stop();
 * event.close();
 * }</pre>
 *
 * <p>A stopped event cannot be started again, only closed. Unlike other objects a started one is
 * not stopped by {@link #close()}, which fails with IN_USE: the program decides when the last
 * operation has ended. Closing the CPU handle ends all DPU handles and remote events: their
 * operations and waits fail with SHUTDOWN, or with CONNECTION_RESET if the process of the CPU
 * handle was killed. Closing a DPU handle affects that handle alone, and nothing tells the CPU
 * handle of it, or of the end of its process: a wait for such a handle needs a time limit.
 *
 * <p>Threads: any thread configures, starts, stops, exports and closes. In synchronous mode each
 * half of a handle, publishing (set, add) and subscribing (get, wait), belongs to the thread that
 * has used it first, for as long as the handle exists; a call from another fails with NOT_PERMITTED
 * that names both. Operations allocate nothing, take no lock, and make a system call only to wake
 * those who sleep.
 */
public final class SyncEvent implements AutoCloseable {
    /** The mask of a wait for the whole counter. */
    public static final long ALL_BITS = -1;

    /** Default time limit of {@link #createFromExport(byte[], Device)}: 5 seconds. */
    public static final Duration DEFAULT_IMPORT_TIMEOUT = Duration.ofSeconds(5);

    private static final AtomicInteger LAST_NUMBER = new AtomicInteger();

    private enum State {
        /** Created: it may be configured. */
        IDLE,
        /** Started in synchronous mode. */
        SYNCHRONOUS,
        /** Started in asynchronous mode. */
        ASYNCHRONOUS,
        /** Stopped: it can only be closed. */
        STOPPED,
        /** Closed. */
        CLOSED
    }

    private final Device device;
    private final boolean imported;
    private final String name;
    private final EventConfiguration configuration;

    /** From start to close, of a DPU handle from its creation on. */
    private final EventHold hold;

    private State state = State.IDLE;

    /** The counter: of a CPU handle from start to close, of a DPU handle from its creation on. */
    private @Nullable EventHandle handle;

    private @Nullable EventContext context;

    /** The synchronous mode, from start to stop. */
    private volatile @Nullable SynchronousOperations operations;

    private SyncEvent(Device device, boolean imported) {
        this.device = Arguments.notNull(device, "device");
        this.imported = imported;
        this.name =
                Text.format(
                        "sync event %d of %s%s",
                        LAST_NUMBER.incrementAndGet(), device, imported ? ", a DPU handle" : "");
        this.configuration = new EventConfiguration(name);
        this.hold = new EventHold(device, name);
    }

    // ---- creation and configuration ----

    /**
     * Creates the CPU handle of a new event, to be configured. From its start on the device cannot
     * be closed before it.
     *
     * @throws DpuException BAD_STATE if the device is closed
     */
    public static SyncEvent create(Device device) {
        LibraryObject.requireOpen(Arguments.notNull(device, "device"));
        return new SyncEvent(device, false);
    }

    /**
     * Creates a DPU handle from an export; waits for the reply of the exporter for up to {@link
     * #DEFAULT_IMPORT_TIMEOUT}.
     *
     * @throws DpuException as {@link #createFromExport(byte[], Device, Duration)}
     */
    public static SyncEvent createFromExport(byte[] blob, Device device) {
        return createFromExport(blob, device, DEFAULT_IMPORT_TIMEOUT);
    }

    /**
     * Creates a DPU handle from an export, to be started. The program of the CPU handle need not
     * participate and may sleep or compute. The device cannot be closed before the handle, which is
     * one of the event's also if it is never started.
     *
     * @param blob the result of {@link #exportPci} on the host
     * @param device the port of the DPU that has created the exporting function
     * @param timeout for the reply of the exporter; {@link
     *     io.softdpu.core.execution.Deadline#NO_LIMIT} for none
     * @throws DpuException INVALID_VALUE if a field of the blob is wrong; UNSUPPORTED_VERSION for a
     *     blob of another version; NOT_FOUND if it comes from another kernel or fabric folder, or
     *     the event was stopped or has ended; BAD_CONFIG if it comes from another topology;
     *     NOT_PERMITTED for a device that is not the parent of the exporting one; FULL if the event
     *     has {@link SyncEventCapabilities#maxDpuHandles()} handles already; TIME_OUT if the
     *     exporter does not reply; CONNECTION_RESET if its process ends meanwhile; BAD_STATE if the
     *     device is closed
     */
    public static SyncEvent createFromExport(byte[] blob, Device device, Duration timeout) {
        Arguments.notNull(blob, "blob");
        Arguments.notNull(device, "device");
        long timeoutNanos = Arguments.positiveNanos(timeout, "timeout");
        SyncEventBlob decoded = SyncEventBlob.decode(blob);
        HandleImport.require(decoded, device);
        SyncEvent event = new SyncEvent(device, true);
        boolean joined = false;
        try {
            event.hold.acquire(null);
            event.handle =
                    HandleImport.join(
                            ImportKind.DPU_HANDLE,
                            HandleImport.busOf(device),
                            decoded.eventId(),
                            decoded.key(),
                            decoded,
                            timeoutNanos);
            event.configuration.imported(decoded);
            joined = true;
            return event;
        } finally {
            if (!joined) {
                event.release();
            }
        }
    }

    /**
     * Sets the publisher location, once.
     *
     * @throws DpuException ALREADY_EXIST if there is one; NOT_SUPPORTED for DPA and GPU;
     *     NOT_PERMITTED for a DPU handle; BAD_STATE if it was started or closed
     */
    public synchronized SyncEvent addPublisherLocation(SyncEventLocation location) {
        requireConfigurable("addPublisherLocation");
        configuration.addPublisher(location);
        return this;
    }

    /**
     * Sets the subscriber location, once.
     *
     * @throws DpuException as {@link #addPublisherLocation}
     */
    public synchronized SyncEvent addSubscriberLocation(SyncEventLocation location) {
        requireConfigurable("addSubscriberLocation");
        configuration.addSubscriber(location);
        return this;
    }

    /**
     * Sets the memory of the counter, instead of memory of the library: for an event with one CPU
     * and one DPU location. The counter starts with its content and is always visible in it, in the
     * byte order of the processor. The memory stays the program's, which from the start on can
     * close it after the event; the library neither clears nor frees it.
     *
     * @param memory separate memory of 8 bytes, so that an export exposes nothing else
     * @throws DpuException NOT_SUPPORTED for memory of another size; ALREADY_EXIST if it has
     *     memory; NOT_PERMITTED for a DPU handle; BAD_STATE if it was started or closed, or the
     *     memory is closed
     */
    public synchronized SyncEvent setMemory(SharedMemory memory) {
        Arguments.notNull(memory, "memory");
        requireConfigurable("setMemory");
        configuration.setMemory(memory);
        return this;
    }

    /** The publisher location; null until it is set. Any thread. */
    public synchronized @Nullable SyncEventLocation publisherLocation() {
        return configuration.publisher();
    }

    /** The subscriber location; null until it is set. Any thread. */
    public synchronized @Nullable SyncEventLocation subscriberLocation() {
        return configuration.subscriber();
    }

    /** Its device. Any thread. */
    public Device device() {
        return device;
    }

    /** Whether it is started, in either mode. Any thread. */
    public synchronized boolean isStarted() {
        return state == State.SYNCHRONOUS || state == State.ASYNCHRONOUS;
    }

    /** Whether it is a DPU handle. Any thread. */
    public boolean isImported() {
        return imported;
    }

    // ---- start, stop and close ----

    /**
     * Starts it in synchronous mode.
     *
     * @throws DpuException BAD_STATE if it was started or closed, or {@link #asContext()} was
     *     called, or it has no publisher or no subscriber location (the message names what is
     *     missing), or the device or the memory of the program is closed; NOT_PERMITTED with memory
     *     of the program and other locations than one CPU and one DPU; IN_USE while peers hold that
     *     memory from an export that was revoked, or another event has it; NO_MEMORY; for a DPU
     *     handle SHUTDOWN or CONNECTION_RESET if the CPU handle has ended
     */
    public synchronized SyncEvent start() {
        if (context != null && state == State.IDLE) {
            throw badState(
                    "event is asynchronous, since asContext was called",
                    ", expected=start of its context");
        }
        EventHandle begun = begin();
        operations = begun.add(new SynchronousOperations(this, begun));
        state = State.SYNCHRONOUS;
        return this;
    }

    /**
     * Stops an event in synchronous mode; it can only be closed then. Waits that another thread is
     * in end with SHUTDOWN. DPU handles go on until the close of the CPU handle, but no further one
     * can be created.
     *
     * @throws DpuException BAD_STATE if it is not started in synchronous mode
     */
    public synchronized void stop() {
        if (state != State.SYNCHRONOUS) {
            throw badState(
                    "event is not started in synchronous mode",
                    state == State.ASYNCHRONOUS ? ", expected=stop of its context" : "");
        }
        requireOperations().stop();
        operations = null;
        stopped();
    }

    /**
     * The event as a context, for asynchronous mode: configured, started and stopped there. The
     * same object each time. It is closed with the event.
     *
     * @throws DpuException BAD_STATE if it was started in synchronous mode, stopped or closed
     */
    public synchronized SyncEventContext asContext() {
        EventContext present = context;
        if (present != null && state != State.CLOSED) {
            return present;
        }
        if (state != State.IDLE) {
            throw badState(
                    "event cannot become asynchronous", ", expected=asContext before any start");
        }
        EventContext made = new EventContext(this, device);
        context = made;
        return made;
    }

    /**
     * Closes the handle and its context; idempotent. It must have been stopped, or never started:
     * unlike the close of other objects this does not stop it. Closing the CPU handle ends all DPU
     * handles.
     *
     * @throws DpuException IN_USE while it is started; NOT_PERMITTED if its context is on an engine
     *     of another thread
     */
    @Override
    public void close() {
        EventContext open;
        synchronized (this) {
            requireNotStarted();
            if (state == State.CLOSED) {
                return;
            }
            open = context;
        }
        if (open != null) {
            open.close(); // on the thread of its engine, so without the lock
        }
        synchronized (this) {
            requireNotStarted();
            if (state == State.CLOSED) {
                return;
            }
            state = State.CLOSED;
            release();
        }
    }

    private void requireNotStarted() {
        if (isStarted()) {
            throw startedStill();
        }
    }

    DpuException startedStill() {
        EventContext driven = context;
        String next = "expected=stop first";
        if (driven != null) {
            next =
                    driven.state() == ContextState.STOPPING
                            ? Text.format(
                                    "state=%s, allocatedTasks=%d, expected=free of each task, then"
                                            + " progress",
                                    ContextState.STOPPING, driven.allocatedTasks())
                            : "expected=stop of its context first";
        }
        return new DpuException(
                Status.IN_USE, Text.format("sync event is started: event=%s, %s", this, next));
    }

    private void release() {
        EventHandle open = handle;
        handle = null;
        if (open != null) {
            open.close();
        }
        hold.release();
    }

    // ---- export ----

    /**
     * Exports the event for use on the DPU. The blob gives access: a process that has it can create
     * a handle while the event is started. Further calls for the same device return an equal blob.
     *
     * @param exporting a device of the host that a port of the DPU has created, of the same machine
     * @return the blob, for {@link #createFromExport(byte[], Device)} on that port
     * @throws DpuException NOT_PERMITTED for a DPU handle, without DPU among the locations (naming
     *     both), and for a device of another machine; NOT_SUPPORTED for a device that is not one of
     *     the host with a parent port; BAD_STATE unless started; OPERATING_SYSTEM
     */
    public synchronized byte[] exportPci(Device exporting) {
        Arguments.notNull(exporting, "exporting");
        requireOwn("exportPci");
        EventExport.requireFunctionOfHost(exporting, this);
        return export().pci(exporting);
    }

    /**
     * Exports the event for use by an RDMA peer. The blob gives access: a process that has it can
     * create a remote event while the event is started. Further calls for the same device return an
     * equal blob.
     *
     * @param exporting a device of the same machine: that of the RDMA instance which is connected
     *     with the peer
     * @return the blob, for {@link RemoteSyncEvent#createFromExport(byte[], Device)} of the peer
     * @throws DpuException NOT_PERMITTED for a DPU handle, without REMOTE among the locations
     *     (naming both), and for a device of another machine; BAD_STATE unless started;
     *     OPERATING_SYSTEM
     */
    public synchronized byte[] exportRdma(Device exporting) {
        Arguments.notNull(exporting, "exporting");
        requireOwn("exportRdma");
        return export().rdma(exporting);
    }

    private EventExport export() {
        if (!isStarted() || !(handle instanceof CpuHandle cpu)) {
            throw badState("export needs a started event", ", expected=start first");
        }
        return new EventExport(this, device, configuration, cpu);
    }

    /**
     * Would export the event for use on a data path accelerator, which no machine here has.
     *
     * @throws DpuException NOT_SUPPORTED; NOT_PERMITTED for a DPU handle
     */
    @SuppressWarnings("DoNotCallSuggester") // a call of the guide, whose answer is its status
    public byte[] exportDpa(Device exporting) {
        throw notExportable("exportDpa", exporting, "DPA");
    }

    /**
     * Would export the event for use on a GPU, which no machine here has.
     *
     * @throws DpuException NOT_SUPPORTED; NOT_PERMITTED for a DPU handle
     */
    @SuppressWarnings("DoNotCallSuggester") // as above
    public byte[] exportGpu(Device exporting) {
        throw notExportable("exportGpu", exporting, "GPU");
    }

    private DpuException notExportable(String call, Device exporting, String unit) {
        Arguments.notNull(exporting, "exporting");
        requireOwn(call);
        return new DpuException(
                Status.NOT_SUPPORTED,
                Text.format(
                        "no such processor to export to: location=%s, device=%s, event=%s,"
                                + " expected=exportPci",
                        unit, exporting, this));
    }

    // ---- synchronous operations ----

    /**
     * Sets the value, and wakes those who wait.
     *
     * @throws DpuException BAD_STATE unless started in synchronous mode; NOT_PERMITTED on another
     *     thread than the publisher's; SHUTDOWN or CONNECTION_RESET if the CPU handle has ended
     */
    public void set(long value) {
        requireOperations().set(value);
    }

    /**
     * Adds to the value atomically, and wakes those who wait. Concurrent additions are never lost.
     *
     * @return the value before
     * @throws DpuException as {@link #set}
     */
    public long add(long increment) {
        return requireOperations().add(increment);
    }

    /**
     * The value.
     *
     * @throws DpuException BAD_STATE unless started in synchronous mode; NOT_PERMITTED on another
     *     thread than the subscriber's; SHUTDOWN or CONNECTION_RESET if the CPU handle has ended
     */
    public long get() {
        return requireOperations().get();
    }

    /**
     * Waits until the masked value is greater than a threshold, unsigned; spins.
     *
     * @param mask applied to the value; {@link #ALL_BITS} for the whole. Any mask is accepted, also
     *     one with which the condition can never hold
     * @throws DpuException as {@link #get}, also during the wait; SHUTDOWN if the handle is stopped
     *     by another thread; CONNECTION_ABORTED if the thread is interrupted, whose flag stays set
     */
    public void waitGreater(long threshold, long mask) {
        await(WaitCondition.GREATER, threshold, mask, Long.MAX_VALUE, false);
    }

    /**
     * As {@link #waitGreater(long, long)}, with a time limit.
     *
     * @param timeout {@link io.softdpu.core.execution.Deadline#NO_LIMIT} for none
     * @throws DpuException TIME_OUT after the limit
     */
    public void waitGreater(long threshold, long mask, Duration timeout) {
        await(WaitCondition.GREATER, threshold, mask, nanos(timeout), false);
    }

    /** As {@link #waitGreater(long, long)}, but yields the processor between two looks. */
    public void waitGreaterYield(long threshold, long mask) {
        await(WaitCondition.GREATER, threshold, mask, Long.MAX_VALUE, true);
    }

    /**
     * As {@link #waitGreaterYield(long, long)}, with a time limit.
     *
     * @param timeout {@link io.softdpu.core.execution.Deadline#NO_LIMIT} for none
     * @throws DpuException TIME_OUT after the limit
     */
    public void waitGreaterYield(long threshold, long mask, Duration timeout) {
        await(WaitCondition.GREATER, threshold, mask, nanos(timeout), true);
    }

    /**
     * Waits until the masked value equals a number; spins.
     *
     * @throws DpuException as {@link #waitGreater(long, long)}
     */
    public void waitEqual(long expected, long mask) {
        await(WaitCondition.EQUAL, expected, mask, Long.MAX_VALUE, false);
    }

    /**
     * As {@link #waitEqual(long, long)}, with a time limit.
     *
     * @param timeout {@link io.softdpu.core.execution.Deadline#NO_LIMIT} for none
     * @throws DpuException TIME_OUT after the limit
     */
    public void waitEqual(long expected, long mask, Duration timeout) {
        await(WaitCondition.EQUAL, expected, mask, nanos(timeout), false);
    }

    /** As {@link #waitEqual(long, long)}, but yields the processor between two looks. */
    public void waitEqualYield(long expected, long mask) {
        await(WaitCondition.EQUAL, expected, mask, Long.MAX_VALUE, true);
    }

    /**
     * As {@link #waitEqualYield(long, long)}, with a time limit.
     *
     * @param timeout {@link io.softdpu.core.execution.Deadline#NO_LIMIT} for none
     * @throws DpuException TIME_OUT after the limit
     */
    public void waitEqualYield(long expected, long mask, Duration timeout) {
        await(WaitCondition.EQUAL, expected, mask, nanos(timeout), true);
    }

    /**
     * Waits until the masked value differs from a number; spins.
     *
     * @throws DpuException as {@link #waitGreater(long, long)}
     */
    public void waitNotEqual(long unexpected, long mask) {
        await(WaitCondition.NOT_EQUAL, unexpected, mask, Long.MAX_VALUE, false);
    }

    /**
     * As {@link #waitNotEqual(long, long)}, with a time limit.
     *
     * @param timeout {@link io.softdpu.core.execution.Deadline#NO_LIMIT} for none
     * @throws DpuException TIME_OUT after the limit
     */
    public void waitNotEqual(long unexpected, long mask, Duration timeout) {
        await(WaitCondition.NOT_EQUAL, unexpected, mask, nanos(timeout), false);
    }

    /** As {@link #waitNotEqual(long, long)}, but yields the processor between two looks. */
    public void waitNotEqualYield(long unexpected, long mask) {
        await(WaitCondition.NOT_EQUAL, unexpected, mask, Long.MAX_VALUE, true);
    }

    /**
     * As {@link #waitNotEqualYield(long, long)}, with a time limit.
     *
     * @param timeout {@link io.softdpu.core.execution.Deadline#NO_LIMIT} for none
     * @throws DpuException TIME_OUT after the limit
     */
    public void waitNotEqualYield(long unexpected, long mask, Duration timeout) {
        await(WaitCondition.NOT_EQUAL, unexpected, mask, nanos(timeout), true);
    }

    private static long nanos(Duration timeout) {
        return Arguments.nanos(timeout, "timeout");
    }

    private void await(
            WaitCondition condition, long operand, long mask, long limitNanos, boolean yielding) {
        requireOperations().await(condition, operand, mask, limitNanos, yielding);
    }

    private SynchronousOperations requireOperations() {
        SynchronousOperations open = operations;
        if (open == null) {
            throw notSynchronous();
        }
        return open;
    }

    private synchronized DpuException notSynchronous() {
        return badState(
                "event is not started in synchronous mode",
                switch (state) {
                    case IDLE -> ", expected=start first";
                    case ASYNCHRONOUS -> ", expected=a task or a job";
                    default -> "";
                });
    }

    // ---- for the context ----

    /** Refuses a start in asynchronous mode. */
    synchronized void requireStartable() {
        requireIdle("start");
        configuration.requireComplete();
        EventHandle joined = handle;
        if (joined == null) {
            return;
        }
        boolean usable = false;
        try {
            joined.requireUsable(this);
            usable = true;
        } finally {
            if (!usable) {
                hold.release(); // it can never be started, and its program may have lost it
            }
        }
    }

    /** Begins the asynchronous mode. */
    synchronized EventHandle beginAsynchronous() {
        EventHandle begun = begin();
        state = State.ASYNCHRONOUS;
        return begun;
    }

    /** Leaves the event as it was before {@link #beginAsynchronous}: its start has failed. */
    synchronized void abandonAsynchronous() {
        state = State.IDLE;
        EventHandle begun = handle;
        if (begun != null && !imported) {
            handle = null;
            begun.close();
            hold.release();
        }
    }

    /** Ends the asynchronous mode. */
    synchronized void stopped() {
        state = State.STOPPED;
        if (handle instanceof CpuHandle cpu) {
            cpu.endInvitation();
        }
    }

    private EventHandle begin() {
        requireStartable();
        EventHandle present = handle;
        if (present != null) {
            return present;
        }
        try {
            SharedMemory ofUser = configuration.memory();
            hold.acquire(ofUser);
            EventHandle made =
                    new CpuHandle(
                            HandleImport.busOf(device),
                            configuration.memoryOfCounter(),
                            ofUser != null);
            handle = made;
            return made;
        } finally {
            if (handle == null) {
                hold.release();
            }
        }
    }

    private void requireConfigurable(String call) {
        requireOwn(call);
        requireIdle(call);
    }

    private void requireOwn(String call) {
        if (imported) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format("call is for the CPU handle: call=%s, event=%s", call, this));
        }
    }

    private void requireIdle(String call) {
        if (state != State.IDLE) {
            throw badState(
                    state == State.STOPPED
                            ? "event was stopped, and can only be closed"
                            : "event is not idle",
                    Text.format(", call=%s, expected=%s", call, State.IDLE));
        }
    }

    private DpuException badState(String reason, String more) {
        return new DpuException(
                Status.BAD_STATE,
                Text.format("%s: event=%s, state=%s%s", reason, this, state, more));
    }

    /** The counter, for tests; null if there is none. */
    synchronized @Nullable EventHandle handle() {
        return handle;
    }

    /** Its kind and number in this process, for messages. */
    @Override
    public String toString() {
        return name;
    }
}
