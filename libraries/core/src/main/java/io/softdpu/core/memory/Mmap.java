package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.core.internal.base.Usage;
import io.softdpu.fabric.memory.SharedSegment;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One range of memory that devices may work on, with permissions (Core guide, section 3.3.2).
 *
 * <p>A <em>local</em> mmap is created, given its memory, permissions and devices, and started. It
 * is used by tasks of this program, and can be exported: {@link #exportPci} for the other side of
 * the PCIe bus, {@link #exportRdma} for an RDMA peer. The blob that comes out travels by any way to
 * the other side, where {@link #createFromExport} makes an <em>imported</em> mmap of it: the same
 * memory, for tasks over there. An import from PCIe can be exported once more, for RDMA.
 *
 * <p>Whoever has a blob can get at the memory as far as its permissions go: give it to the peer
 * that it is meant for. Stopping the mmap withdraws all its exports, and each importer's next use
 * fails with SHUTDOWN; if this program ends it fails with CONNECTION_RESET.
 *
 * <p>Memory that is exported is sealed when the mmap starts: either all grants are for reading
 * only, and then importers cannot write however hard they try, or the memory is exported writable.
 * One memory cannot be both, and an export that would only allow reading of memory that others may
 * write is refused with NOT_SUPPORTED.
 *
 * <p>Any thread may call any method. A stopped local mmap can be given other permissions and
 * devices and be started again; its memory stays what it was set to.
 */
public final class Mmap implements AutoCloseable {
    /** How long {@link #createFromExport(byte[], Device)} waits for the exporter. */
    public static final long DEFAULT_IMPORT_TIMEOUT_NANOS = 5_000_000_000L;

    /** How many devices can be added unless {@link #setMaxDevices} says something else. */
    public static final int DEFAULT_MAX_DEVICES = 32;

    static {
        RegionAccess.install();
    }

    /** Where an mmap is in its life. */
    public enum State {
        /** Being configured; imported mmaps are never here. */
        IDLE,
        /** In use. */
        STARTED,
        /** Closed for good. */
        CLOSED
    }

    private final MmapDevices devices = new MmapDevices();
    private final MmapExports exports = new MmapExports(this);
    private final @Nullable MmapOrigin origin;
    private final MmapRange range = new MmapRange();
    private final MmapUsers users = new MmapUsers();
    private @Nullable Permissions permissions;
    private @Nullable MemoryFreeCallback freeCallback;
    private boolean startedBefore;
    private volatile State state = State.IDLE;

    private Mmap() {
        origin = null;
    }

    /** An import: started from the beginning. */
    Mmap(MmapOrigin origin, Device device, Usage.Hold onDevice) {
        this.origin = origin;
        this.permissions = new Permissions(origin.descriptor().permissions());
        SharedSegment mapped = origin.region().memory();
        this.range.set(mapped == null ? null : mapped.segment(), origin.descriptor().sizeBytes());
        this.devices.addHeld(device, onDevice);
        this.startedBefore = true;
        this.state = State.STARTED;
    }

    // ---- making and configuring ----

    /** Creates a local mmap, to be configured. */
    public static Mmap create() {
        return new Mmap();
    }

    /**
     * Makes an mmap of an export, with a mapping; waits for the exporter's answer for up to {@link
     * #DEFAULT_IMPORT_TIMEOUT_NANOS}.
     *
     * @throws DpuException as {@link #createFromExport(byte[], Device, Mapping, long)}
     */
    public static Mmap createFromExport(byte[] blob, Device device) {
        return createFromExport(blob, device, Mapping.ACCESS, DEFAULT_IMPORT_TIMEOUT_NANOS);
    }

    /**
     * Makes an mmap of an export. It is started, and ends with {@link #close()}.
     *
     * <p>The calling thread waits; the exporter's program need not do anything, it may sleep or
     * compute. With {@link Mapping#ACCESS} the memory is mapped and touched before this returns,
     * which takes about half a second a GiB in addition to the time given here.
     *
     * @param blob what {@link #exportPci} or {@link #exportRdma} gave on the other side
     * @param device the device to work with; for a PCI export it has to be the port of the DPU that
     *     made the exporting function, for an RDMA export any device will do
     * @param mapping whether the memory is needed here or is only to be passed on
     * @param timeoutNanos how long to wait for the exporter's answer
     * @throws DpuException INVALID_VALUE if a field of the blob is wrong; UNSUPPORTED_VERSION for a
     *     blob of another version; NOT_FOUND if it comes from another kernel or fabric folder, the
     *     exporter is not there any more, or the export was withdrawn; BAD_CONFIG if it comes from
     *     another topology; TOO_BIG if it is larger than this machine imports; NOT_PERMITTED for a
     *     device that is not the parent of the exporting one; TIME_OUT if the exporter does not
     *     answer; BAD_STATE if the device is closed
     */
    public static Mmap createFromExport(
            byte[] blob, Device device, Mapping mapping, long timeoutNanos) {
        return MmapImport.run(blob, device, mapping, timeoutNanos);
    }

    /**
     * Gives it its memory, once: memory that can be exported.
     *
     * @throws DpuException BAD_STATE if it has its memory already or is not IDLE, or the memory is
     *     closed
     */
    public synchronized Mmap setMemory(SharedMemory memory) {
        Arguments.notNull(memory, "memory");
        requireNoMemory();
        range.set(memory);
        return this;
    }

    /**
     * Gives it its memory, once: memory for local use, which stays open as long as this.
     *
     * @throws DpuException BAD_STATE if it has its memory already or is not IDLE, or the memory is
     *     closed
     */
    public synchronized Mmap setMemory(LocalMemory memory) {
        Arguments.notNull(memory, "memory");
        requireNoMemory();
        range.set(memory);
        return this;
    }

    /**
     * Gives it its memory, once: any memory, on the heap or off it, for local use alone. It has to
     * stay alive, and accessible to the engines that use it, until the mmap is closed: tasks are
     * refused with BAD_STATE where it is closed, with NOT_PERMITTED on a thread that cannot read
     * it.
     *
     * @throws DpuException BAD_STATE if it has its memory already or is not IDLE; INVALID_VALUE if
     *     the segment is empty, closed, or confined to another thread
     */
    public synchronized Mmap setMemory(MemorySegment memory) {
        Arguments.readable(memory, "memory");
        requireNoMemory();
        if (memory.byteSize() == 0) {
            throw new DpuException(Status.INVALID_VALUE, "memory is empty: sizeBytes=0");
        }
        range.set(memory, memory.byteSize());
        return this;
    }

    /**
     * Says who may do what with the memory.
     *
     * @throws DpuException BAD_STATE if it is not IDLE
     */
    public synchronized Mmap setPermissions(Permissions newPermissions) {
        Arguments.notNull(newPermissions, "newPermissions");
        requireIdle();
        permissions = newPermissions;
        return this;
    }

    /**
     * Gives a device access to the memory; the device cannot be closed before the mmap.
     *
     * @throws DpuException BAD_STATE if it is not IDLE or the device is closed; ALREADY_EXIST if
     *     this device was added before; INVALID_VALUE if it belongs to another machine than those
     *     before; NO_MEMORY if there are as many as {@link #setMaxDevices} says
     */
    public synchronized Mmap addDevice(Device device) {
        Arguments.notNull(device, "device");
        requireIdle();
        devices.add(device);
        return this;
    }

    /**
     * Takes a device's access away.
     *
     * @throws DpuException BAD_STATE if it is not IDLE; NOT_FOUND if the device was not added
     */
    public synchronized Mmap removeDevice(Device device) {
        Arguments.notNull(device, "device");
        requireIdle();
        devices.remove(device);
        return this;
    }

    /**
     * Says how many devices can be added; {@link #DEFAULT_MAX_DEVICES} if it is never said.
     *
     * @param maxDevices how many, at least 1
     * @throws DpuException NOT_PERMITTED once it has been started, or if it is imported;
     *     INVALID_VALUE if it is less than 1 or than there are devices; BAD_STATE if it is closed
     */
    public synchronized Mmap setMaxDevices(int maxDevices) {
        if (startedBefore && state != State.CLOSED) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "number of devices is chosen before the first start: mmap=" + this);
        }
        requireIdle();
        devices.setMax(maxDevices);
        return this;
    }

    /**
     * Says what is to be done with the memory when the mmap is closed; null for nothing, as it is
     * in the beginning. Called by {@link #close()}, on its thread, at the very end: the memory may
     * be unmapped, or its {@link SharedMemory} or {@link LocalMemory} closed. What it throws comes
     * out of {@code close()}; the mmap is closed all the same. Not called if the mmap was never
     * started.
     *
     * @throws DpuException BAD_STATE if it is not IDLE
     */
    public synchronized Mmap setFreeCallback(@Nullable MemoryFreeCallback callback) {
        requireIdle();
        freeCallback = callback;
        return this;
    }

    // ---- living and ending ----

    /**
     * Starts it; memory that its permissions let others get at is sealed now.
     *
     * @throws DpuException BAD_STATE if it is not IDLE, or has no memory, no permissions or no
     *     device (the message names what is missing); INVALID_VALUE if writing is permitted and the
     *     memory is read-only; NOT_SUPPORTED if the memory is exported with the other kind of
     *     access already; IN_USE while importers hold the memory from an export that was withdrawn,
     *     naming them
     */
    public synchronized Mmap start() {
        requireIdle();
        MemorySegment memory = requireItem("memory", range.segment());
        Permissions granted = requireItem("permissions", permissions);
        if (devices.isEmpty()) {
            throw badState("mandatory item is missing: item=device");
        }
        range.start(memory, granted);
        state = State.STARTED;
        startedBefore = true;
        return this;
    }

    /**
     * Stops it: its exports are withdrawn, no buf can be made in it, and tasks that use it fail.
     * Bufs that there are stay, and so does the memory.
     *
     * <p>A peer that was halted in the middle of a copy may still finish it when it goes on. So the
     * memory cannot be started or exported again before the peers have let go of it (IN_USE): a
     * peer that closes its import, or ends, does. Whoever does not want to wait takes new {@link
     * SharedMemory}. If a peer passed its import on and was killed, nothing is known of those that
     * it passed it on to.
     *
     * @throws DpuException BAD_STATE if it is not started; NOT_PERMITTED if it is imported: close
     *     it
     */
    public synchronized void stop() {
        requireStarted();
        if (origin != null) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "an imported mmap is not stopped but closed: mmap=" + this);
        }
        state = State.IDLE;
        exports.withdraw();
    }

    /**
     * Ends it, stopping it first where it is started; closing twice does nothing. The memory of a
     * local mmap stays with the program, and its {@linkplain #setFreeCallback free callback} is
     * called; an import is unmapped, and its re-exports are withdrawn.
     *
     * @throws DpuException NOT_PERMITTED while bufs or contexts use it
     */
    @Override
    public void close() {
        MemorySegment memory;
        MemoryFreeCallback callback;
        synchronized (this) {
            if (state == State.CLOSED) {
                return;
            }
            memory = range.segment();
            callback = startedBefore ? freeCallback : null;
            end();
        }
        if (memory != null && callback != null) {
            callback.free(memory);
        }
    }

    private void end() {
        if (!users.close()) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "mmap is in use: users=%d, mmap=%s".formatted(users.count(), this));
        }
        state = State.CLOSED;
        exports.withdraw();
        if (origin != null) {
            origin.region().close();
        }
        range.release();
        devices.releaseAll();
    }

    // ---- exporting ----

    /**
     * Exports it for the other side of the PCIe bus.
     *
     * @param device one of its devices, a function that a port of the DPU has made; that port's
     *     device on the DPU can import it
     * @return the blob; the same each time until the mmap is stopped
     * @throws DpuException BAD_STATE if it is not started; NOT_PERMITTED without one of the {@code
     *     PCI_*} permissions, or if the device was not added; NOT_SUPPORTED if the memory is not
     *     {@link SharedMemory}, the device was made by no port, the mmap is an import, or the
     *     export would be for reading while others may write; NO_MEMORY if too much memory is kept
     *     back
     */
    public synchronized byte[] exportPci(Device device) {
        return exports.pci(Arguments.notNull(device, "device"));
    }

    /**
     * Exports it for an RDMA peer; for an import from PCIe this passes the exporter's memory on,
     * without mapping it here.
     *
     * @param device one of its devices; for an import the one that it was imported with
     * @return the blob; the same each time until the mmap is stopped
     * @throws DpuException BAD_STATE if it is not started; NOT_PERMITTED without one of the {@code
     *     RDMA_*} permissions, or if the device was not added; NOT_SUPPORTED if the memory is not
     *     {@link SharedMemory}, the mmap is an RDMA import, or the export would be for reading
     *     while others may write; NO_MEMORY if too much memory is kept back; SHUTDOWN or
     *     CONNECTION_RESET if it is an import that was withdrawn
     */
    public synchronized byte[] exportRdma(Device device) {
        return exports.rdma(Arguments.notNull(device, "device"));
    }

    // ---- looking at it ----

    /** The size of its range; 0 before it has its memory. */
    public long sizeBytes() {
        return range.sizeBytes();
    }

    /**
     * Who may do what with the memory; for an import, what the exporter grants.
     *
     * @throws DpuException BAD_STATE before they are set
     */
    public Permissions permissions() {
        return requireItem("permissions", permissions);
    }

    /** Whether it stands for another machine's memory. */
    public boolean isImported() {
        return origin != null;
    }

    /** Whether there is an export of it that the user asked for and that was not withdrawn. */
    public synchronized boolean isExported() {
        return exports.any();
    }

    /** How many bufs, pools and contexts use it and keep it from being closed. */
    public int users() {
        return users.count();
    }

    /** Where it is in its life. */
    public State state() {
        return state;
    }

    /** Its devices. */
    public synchronized List<Device> devices() {
        return devices.list();
    }

    /** How many devices can be added. */
    public synchronized int maxDevices() {
        return devices.max();
    }

    /**
     * Its memory, for the program itself; no allocation.
     *
     * @throws DpuException NOT_PERMITTED if it is imported: only tasks reach that memory; BAD_STATE
     *     if it is closed or has no memory yet
     */
    public MemorySegment segment() {
        if (origin != null) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "memory of another machine, which only tasks can reach: mmap=" + this);
        }
        return requireItem("memory", range.segment());
    }

    @Override
    public String toString() {
        return "mmap[%s, state=%s, sizeBytes=%d, permissions=%s]"
                .formatted(origin == null ? "local" : "imported", state, sizeBytes(), permissions);
    }

    // ---- for this package ----

    /** Counts a buf or a context that uses the memory. */
    void retainUser() {
        boolean retained = users.retain();
        if (!retained || state != State.STARTED) {
            if (retained) {
                users.release();
            }
            throw badState("mmap is not started");
        }
    }

    void releaseUser() {
        if (!users.release()) {
            throw new IllegalStateException("mmap released more often than retained: " + this);
        }
    }

    void requireRange(long offset, long length) {
        range.require(offset, length);
    }

    void requireStarted() {
        if (state != State.STARTED) {
            throw badState("mmap is not started");
        }
    }

    /** Checked before each use; no allocation, no lock. */
    Status checkUse(Permissions needed) {
        if (state != State.STARTED) {
            return Status.BAD_STATE;
        }
        Permissions granted = permissions; // after the state: those that it was started with
        if (granted == null) {
            return Status.BAD_STATE;
        }
        return origin != null ? origin.checkUse(needed) : range.checkUse(granted.grants(needed));
    }

    boolean hasDevice(Device device) {
        return devices.has(device);
    }

    /** The memory as tasks see it; null for an import without a mapping, and after close. */
    @Nullable MemorySegment mapped() {
        return range.segment();
    }

    @Nullable SharedMemory shared() {
        return range.shared();
    }

    /** Where it comes from; null for a local one. */
    @Nullable MmapOrigin origin() {
        return origin;
    }

    MmapExports exports() {
        return exports;
    }

    private void requireIdle() {
        if (state != State.IDLE) {
            throw badState(state == State.CLOSED ? "mmap is closed" : "mmap is started");
        }
    }

    private void requireNoMemory() {
        requireIdle();
        if (range.isSet()) {
            throw badState("mmap has its memory already");
        }
    }

    private <T> T requireItem(String item, @Nullable T value) {
        if (value == null) {
            throw badState(
                    state == State.CLOSED
                            ? "mmap is closed"
                            : "mandatory item is missing: item=" + item);
        }
        return value;
    }

    private DpuException badState(String reason) {
        return new DpuException(
                Status.BAD_STATE, reason + (reason.contains(": ") ? ", " : ": ") + "mmap=" + this);
    }
}
