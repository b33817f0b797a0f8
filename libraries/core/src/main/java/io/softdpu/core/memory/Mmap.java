package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.CallName;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.internal.base.Dependents;
import io.softdpu.core.spi.memory.Grant;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Memory map: a range of memory that devices may access, with permissions (Core guide, section
 * 3.3.2).
 *
 * <p>A <em>local</em> mmap is created, configured with memory, permissions and devices, and
 * started. It is used by tasks of this program, and can be exported: {@link #exportPci} for the
 * other side of the PCIe bus, {@link #exportRdma} for an RDMA peer. The resulting blob is sent by
 * any means to the peer, where {@link #createFromExport} creates an <em>imported</em> mmap: the
 * same memory, for tasks of the peer. An import from PCIe can be re-exported for RDMA.
 *
 * <p>A process that has a blob can access the memory as its permissions allow: pass it to the
 * intended peer only. Stopping the mmap revokes all its exports, and each importer's next use fails
 * with SHUTDOWN; if this program ends it fails with CONNECTION_RESET.
 *
 * <p>Exported memory is sealed when the mmap starts: either all exports are read-only, which the
 * kernel enforces for importers, or the memory is exported writable. The same memory cannot be
 * both, and a read-only export of memory that others may write is refused with NOT_SUPPORTED.
 *
 * <p>A started mmap keeps its memory and its devices open; a stopped one does while bufs, pools,
 * arrays or contexts use it, and one that was never started keeps nothing open: if its memory or a
 * device is closed before, its start fails.
 *
 * <p>Any thread may call any method. A stopped local mmap can be configured with other permissions
 * and devices and started again; its memory cannot be changed.
 */
public final class Mmap implements AutoCloseable {
    /** Timeout of {@link #createFromExport(byte[], Device)} for the exporter. */
    public static final Duration DEFAULT_IMPORT_TIMEOUT = Duration.ofSeconds(5);

    /** Default limit of devices; see {@link #setMaxDevices}. */
    public static final int DEFAULT_MAX_DEVICES = 32;

    static {
        RegionAccess.install();
    }

    /** States of an mmap. */
    public enum State {
        /** Being configured; imported mmaps are never here. */
        IDLE,
        /** In use. */
        STARTED,
        /** Closed. */
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

    /** Null while it is not started, and for memory that the program may close meanwhile. */
    private volatile @Nullable Grant grant;

    private Mmap() {
        origin = null;
    }

    /** Creates an import, which is started. */
    Mmap(MmapOrigin origin, Device device, Dependents.Dependency onDevice) {
        this.origin = origin;
        this.permissions = new Permissions(origin.descriptor().permissions());
        this.range.set(origin.memory(), origin.descriptor().sizeBytes());
        this.devices.add(device, onDevice);
        this.startedBefore = true;
        this.state = State.STARTED;
        this.grant = new Grant(origin.lease());
    }

    // ---- creation and configuration ----

    /** Creates a local mmap, to be configured. */
    public static Mmap create() {
        return new Mmap();
    }

    /**
     * Creates an mmap from an export, with a mapping; waits for the exporter's reply for up to
     * {@link #DEFAULT_IMPORT_TIMEOUT}.
     *
     * @throws DpuException as {@link #createFromExport(byte[], Device, Mapping, Duration)}
     */
    public static Mmap createFromExport(byte[] blob, Device device) {
        return createFromExport(blob, device, Mapping.ACCESS, DEFAULT_IMPORT_TIMEOUT);
    }

    /**
     * Creates an mmap from an export. It is started, and ends with {@link #close()}.
     *
     * <p>The calling thread waits; the exporter's program need not participate and may sleep or
     * compute. With {@link Mapping#ACCESS} the memory is mapped and populated before this returns,
     * which takes about half a second per GiB in addition to the timeout.
     *
     * <p>An RDMA export of another kernel or fabric folder is imported from the blob alone: the
     * exporter is not asked, nothing is mapped whatever the {@code mapping}, and nothing tells of
     * its end but the peer, which refuses the operation. A provider that reaches memory by mapping
     * it refuses tasks with it.
     *
     * @param blob the result of {@link #exportPci} or {@link #exportRdma} of the peer
     * @param device the device; for a PCI export the port of the DPU that created the exporting
     *     function, for an RDMA export any device
     * @param mapping whether the memory is accessed here or only re-exported
     * @param timeout for the exporter's reply; {@link io.softdpu.core.execution.Deadline#NO_LIMIT}
     *     for none
     * @throws DpuException INVALID_VALUE if a field of the blob is wrong; UNSUPPORTED_VERSION for a
     *     blob of another version; NOT_FOUND if it is a PCI export of another kernel or fabric
     *     folder, the exporter has ended, or the export was revoked; BAD_CONFIG if it comes from
     *     another topology, of this fabric folder; TOO_BIG if it is larger than this machine
     *     imports; NOT_PERMITTED for a device that is not the parent of the exporting one; TIME_OUT
     *     if the exporter does not answer; BAD_STATE if the device is closed
     */
    public static Mmap createFromExport(
            byte[] blob, Device device, Mapping mapping, Duration timeout) {
        return MmapImport.run(blob, device, mapping, timeout);
    }

    /**
     * Sets the memory, once: memory that can be exported.
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
     * Sets the memory, once: memory for local use.
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
     * Sets the memory, once: any memory, on the heap or native, for local use only. It must stay
     * alive, and accessible to the engines that use it, until the mmap is closed: tasks are refused
     * with BAD_STATE if it is closed, and with NOT_PERMITTED on a thread that cannot read it.
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
     * Sets the access rights to the memory.
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
     * Gives a device access to the memory.
     *
     * @throws DpuException BAD_STATE if it is not IDLE or the device is closed; ALREADY_EXIST if
     *     this device was added before; INVALID_VALUE if it belongs to another machine than those
     *     before; NO_MEMORY if the limit of {@link #setMaxDevices} is reached
     */
    public synchronized Mmap addDevice(Device device) {
        Arguments.notNull(device, "device");
        requireIdle();
        devices.add(device);
        return this;
    }

    /**
     * Removes a device.
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
     * Sets the limit of devices; {@link #DEFAULT_MAX_DEVICES} by default.
     *
     * @param maxDevices at least 1
     * @throws DpuException NOT_PERMITTED once it has been started, or if it is imported;
     *     INVALID_VALUE if it is less than 1 or than the number of devices; BAD_STATE if it is
     *     closed
     */
    public synchronized Mmap setMaxDevices(int maxDevices) {
        if (startedBefore && state != State.CLOSED) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "limit of devices must be set before the first start: mmap=" + this);
        }
        requireIdle();
        devices.setMax(maxDevices);
        return this;
    }

    /**
     * Sets the callback that releases the memory when the mmap is closed; null, the default, for
     * none. Called by {@link #close()}, on its thread, at the end: it may unmap the memory, or
     * close its {@link SharedMemory} or {@link LocalMemory}. Its exceptions are thrown by {@code
     * close()}, after the mmap was closed. Not called if the mmap was never started.
     *
     * @throws DpuException BAD_STATE if it is not IDLE
     */
    public synchronized Mmap setFreeCallback(@Nullable MemoryFreeCallback callback) {
        requireIdle();
        freeCallback = callback;
        return this;
    }

    // ---- start, stop and close ----

    /**
     * Starts it; memory that its permissions allow to export is sealed now. Memory and devices
     * cannot be closed from now on.
     *
     * @throws DpuException BAD_STATE if it is not IDLE, or has no memory, no permissions or no
     *     device (the message names what is missing), or its memory or a device is closed (the
     *     message names it); INVALID_VALUE if writing is permitted and the memory is read-only;
     *     NOT_SUPPORTED if the memory is exported with the other kind of access already; IN_USE
     *     while importers hold the memory from an export that was revoked, naming them
     */
    public synchronized Mmap start() {
        requireIdle();
        MemorySegment memory = requireItem("memory", "setMemory", range.segment());
        Permissions granted = requireItem("permissions", "setPermissions", permissions);
        if (devices.isEmpty()) {
            throw missing("device", "addDevice");
        }
        boolean begun = false;
        try {
            String user = Text.format("mmap of %d bytes", sizeBytes());
            range.hold(user);
            devices.hold(user);
            range.start(memory, granted);
            begun = true;
        } finally {
            if (!begun) {
                letGoIfUnused();
            }
        }
        state = State.STARTED;
        grant = range.isHeld() ? new Grant(null) : null;
        startedBefore = true;
        return this;
    }

    /**
     * Stops it: its exports are revoked, no buf can be created in it, and tasks that use it fail.
     * Existing bufs stay; its memory and devices may be closed when nothing uses it any more.
     *
     * <p>RDMA packets that are executed here by its keys are waited for; after that none changes
     * the memory. Those of a re-export are executed by the machine that has imported it, as below.
     *
     * <p>A peer that was stopped in the middle of a copy may still finish it when it continues. So
     * the memory cannot be started or exported again before the peers have released it (IN_USE), by
     * closing the import or by ending. A program that does not wait allocates new {@link
     * SharedMemory}. If a peer re-exported its import and was killed, the importers of the
     * re-export are not known here.
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
        grant = null;
        state = State.IDLE;
        exports.revoke();
        letGoIfUnused();
    }

    /**
     * Lets memory and devices be closed, unless a buf, pool, array or context may use them. There
     * can be no new one, since it is not started.
     */
    private void letGoIfUnused() {
        if (users.count() == 0) {
            range.letGo();
            devices.letGo();
        }
    }

    /**
     * Closes it, after stopping it if it is started; idempotent. The memory of a local mmap stays
     * with the program, and its {@linkplain #setFreeCallback free callback} is called; an import is
     * unmapped, and its re-exports are revoked.
     *
     * @throws DpuException NOT_PERMITTED, as in DOCA, while bufs, pools, arrays or contexts use it;
     *     the message says how many of each
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
                    Text.format(
                            "mmap is in use: %s, mmap=%s, expected=release of its bufs, and close"
                                    + " of its pools, arrays and contexts",
                            users.describe(), this));
        }
        grant = null;
        state = State.CLOSED;
        exports.revoke();
        if (origin != null) {
            origin.close();
        }
        range.release();
        devices.releaseAll();
    }

    // ---- export ----

    /**
     * Exports it for the other side of the PCIe bus.
     *
     * @param device one of its devices, a function created by a port of the DPU; that port's device
     *     on the DPU can import it
     * @return the blob; the same each time until the mmap is stopped
     * @throws DpuException BAD_STATE if it is not started; NOT_PERMITTED without one of the {@code
     *     PCI_*} permissions, or if the device was not added; NOT_SUPPORTED if the memory is not
     *     {@link SharedMemory}, the device has no parent port, the mmap is an import, or the export
     *     would be read-only while others may write; NO_MEMORY if too much memory is retained
     */
    public synchronized byte[] exportPci(Device device) {
        return exports.pci(Arguments.notNull(device, "device"));
    }

    /**
     * Exports it for an RDMA peer; for an import from PCIe this re-exports the exporter's memory.
     * That of {@link Mapping#NONE} is not mapped for this, unless the device has a connection over
     * a network: then this waits for the mapping.
     *
     * @param device one of its devices; for an import the one that it was imported with
     * @return the blob, at most 173 bytes, which fit into the private data of an RDMA connection
     *     that is accepted; the same each time until the mmap is stopped
     * @throws DpuException BAD_STATE if it is not started; NOT_PERMITTED without one of the {@code
     *     RDMA_*} permissions, for a local mmap also without {@code LOCAL_READ_WRITE} (RDMA guide,
     *     table of permissions), or if the device was not added; NOT_SUPPORTED if the memory is not
     *     {@link SharedMemory}, the mmap is an RDMA import, or the export would be read-only while
     *     others may write; NO_MEMORY if too much memory is retained, or cannot be mapped; FULL
     *     beyond the limits of memory that is mapped; SHUTDOWN or CONNECTION_RESET if it is an
     *     import that was revoked
     */
    public synchronized byte[] exportRdma(Device device) {
        return exports.rdma(Arguments.notNull(device, "device"));
    }

    // ---- queries ----

    /** The size of its range; 0 before it has its memory. */
    public long sizeBytes() {
        return range.sizeBytes();
    }

    /**
     * The access rights to the memory; for an import, those that the exporter grants.
     *
     * @throws DpuException BAD_STATE before they are set
     */
    public Permissions permissions() {
        return requireItem("permissions", "setPermissions", permissions);
    }

    /** Whether it describes another machine's memory. */
    public boolean isImported() {
        return origin != null;
    }

    /** Whether the user has exported it, and the export was not revoked. */
    public synchronized boolean isExported() {
        return exports.any();
    }

    /** Number of bufs, pools, arrays and contexts that use it and prevent its close. */
    public int users() {
        return users.count();
    }

    /** The state. */
    public State state() {
        return state;
    }

    /** Its devices. */
    public synchronized List<Device> devices() {
        return devices.list();
    }

    /** Limit of devices. */
    public synchronized int maxDevices() {
        return devices.max();
    }

    /**
     * Its memory, for the program itself; no allocation.
     *
     * @throws DpuException NOT_PERMITTED if it is imported: only tasks access that memory;
     *     BAD_STATE if it is closed or has no memory yet
     */
    public MemorySegment segment() {
        if (origin != null) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "memory of another machine, which only tasks can access: mmap=" + this);
        }
        return requireItem("memory", "setMemory", range.segment());
    }

    /**
     * Local or imported and from where, its state, size, permissions and devices. For messages;
     * reads none of the memory, and never fails. Any thread.
     */
    @Override
    public String toString() {
        MmapOrigin from = origin;
        return Text.format(
                "mmap[%s, state=%s, sizeBytes=%d, permissions=%s, devices=%s]",
                from == null ? "local" : from.describe(),
                state,
                sizeBytes(),
                permissions,
                devices.list());
    }

    // ---- for this package ----

    /** Counts a buf that uses the memory. */
    void retainUser() {
        boolean retained = users.retain();
        if (!retained || state != State.STARTED) {
            if (retained) {
                releaseUser();
            }
            throw notStarted();
        }
    }

    /** Counts a pool or an array that is started. */
    void retainPool() {
        retainUser();
        users.pools().incrementAndGet();
    }

    void releasePool() {
        releaseUser();
        users.pools().decrementAndGet();
    }

    /** Counts a context. */
    void retainContext() {
        retainUser();
        users.contexts().incrementAndGet();
    }

    void releaseContext() {
        releaseUser();
        users.contexts().decrementAndGet();
    }

    void releaseUser() {
        if (!users.release()) {
            throw new IllegalStateException("mmap released more often than retained: " + this);
        }
        if (state != State.STARTED && users.count() == 0) {
            letGoAfterStop();
        }
    }

    private synchronized void letGoAfterStop() {
        if (state == State.IDLE) {
            letGoIfUnused();
        }
    }

    void requireRange(long offset, long length) {
        range.require(offset, length);
    }

    void requireStarted() {
        if (state != State.STARTED) {
            throw notStarted();
        }
    }

    @Nullable Grant grant() {
        return grant;
    }

    /** Checked before each use, unless its grant was found right; no allocation, no lock. */
    @Nullable Refusal checkUse(Permissions needed) {
        // After the state: the permissions that it was started with.
        Permissions granted = state == State.STARTED ? permissions : null;
        if (granted == null) {
            return Refusal.of(
                    Status.BAD_STATE,
                    "mmap is not started: mmap=%s, expected=%s",
                    this,
                    origin == null ? "Mmap.start()" : "an import that is not closed");
        }
        return origin != null ? origin.checkUse(needed, this) : checkLocal(needed, granted);
    }

    private @Nullable Refusal checkLocal(Permissions needed, Permissions granted) {
        Refusal inaccessible = range.checkAccess(this);
        if (inaccessible != null || granted.grants(needed)) {
            return inaccessible;
        }
        return Refusal.of(
                Status.NOT_PERMITTED,
                "mmap does not grant %s: granted=%s, mmap=%s, expected=Mmap.setPermissions with it,"
                        + " before start",
                granted.missing(needed),
                granted,
                this);
    }

    boolean hasDevice(Device device) {
        return devices.has(device);
    }

    /** Checks that the device was added; no allocation unless it was not, no lock. */
    @Nullable Refusal checkDevice(Device device) {
        return hasDevice(device)
                ? null
                : Refusal.of(
                        Status.NOT_PERMITTED,
                        "device was not added to the mmap: device=%s, mmap=%s, expected=%s",
                        device,
                        this,
                        origin == null
                                ? "Mmap.addDevice, before start"
                                : "the device that it was imported with");
    }

    /** The memory for tasks; null for an import without a mapping, and after close. */
    @Nullable MemorySegment mapped() {
        return range.segment();
    }

    @Nullable SharedMemory shared() {
        return range.shared();
    }

    /** The origin of an import; null for a local mmap. */
    @Nullable MmapOrigin origin() {
        return origin;
    }

    MmapExports exports() {
        return exports;
    }

    private void requireIdle() {
        if (state != State.IDLE) {
            throw state == State.CLOSED
                    ? closed()
                    : badState(
                            "mmap is started: call=" + CallName.of(Mmap.class),
                            origin == null ? "IDLE, by Mmap.stop" : "a local mmap");
        }
    }

    private void requireNoMemory() {
        requireIdle();
        if (range.isSet()) {
            throw badState("mmap has its memory already", "one call of Mmap.setMemory");
        }
    }

    private <T> T requireItem(String item, String setter, @Nullable T value) {
        if (value == null) {
            throw state == State.CLOSED ? closed() : missing(item, setter);
        }
        return value;
    }

    private DpuException missing(String item, String setter) {
        return new DpuException(
                Status.BAD_STATE,
                Text.format(
                        "mandatory item is missing: item=%s, mmap=%s, expected=Mmap.%s, before"
                                + " start",
                        item, this, setter));
    }

    private DpuException notStarted() {
        return state == State.CLOSED
                ? closed()
                : new DpuException(
                        Status.BAD_STATE,
                        Text.format("mmap is not started: mmap=%s, expected=Mmap.start()", this));
    }

    private DpuException closed() {
        return badState("mmap is closed", "an mmap that is open");
    }

    private DpuException badState(String reason, String expected) {
        return new DpuException(
                Status.BAD_STATE,
                Text.format(
                        "%s%smmap=%s, expected=%s",
                        reason, reason.contains(":") ? ", " : ": ", this, expected));
    }
}
