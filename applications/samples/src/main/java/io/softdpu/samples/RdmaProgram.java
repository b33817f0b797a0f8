package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventContext;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Resources of one run of an RDMA sample, and the steps that all of them share, in the order of the
 * guide: the resources, then the sample's tasks, then the callback for changes of state, which
 * connects in STARTING and begins the sample's task in RUNNING, and a loop until the context is
 * IDLE. This object is the user data of its contexts: their callbacks, and those of their tasks,
 * have the resources by it.
 */
final class RdmaProgram implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(RdmaProgram.class.getName());

    /** Number of tasks of each type: one is enough to show it. */
    static final int TASKS = 1;

    private static final int BUFS = 2;

    /** Private data of a connection, which the samples do not use. */
    private static final byte[] NO_DATA = {};

    /** What a failed run may take to stop, whatever time it had. */
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    private final RdmaSample sample;
    private final SampleSettings settings;
    private final PrintStream out;
    private final Deadline deadline;
    private final Device device;
    private final SharedMemory memory;
    private final Mmap mmap;
    private final ProgressEngine engine;
    private final BufInventory inventory;
    private final DescriptorFiles files;
    private final Rdma rdma;
    private final boolean byAddress;
    private @Nullable RdmaConnection connection;
    private byte[] sharedByPeer = new byte[0];
    private @Nullable Mmap remote;
    private final ArrayDeque<Refused> refused = new ArrayDeque<>();
    private @Nullable SyncEvent event;
    private @Nullable RemoteSyncEvent remoteEvent;
    private @Nullable DpuException failure;
    private boolean hasTaskFailed;
    private @Nullable UserInput input;
    private boolean idle;

    private RdmaProgram(
            RdmaSample sample,
            SampleSettings settings,
            PrintStream out,
            Deadline deadline,
            Device device,
            SharedMemory memory,
            Mmap mmap,
            ProgressEngine engine,
            BufInventory inventory,
            DescriptorFiles files) {
        this.sample = sample;
        this.settings = settings;
        this.out = out;
        this.deadline = deadline;
        this.device = device;
        this.memory = memory;
        this.mmap = mmap;
        this.engine = engine;
        this.inventory = inventory;
        this.files = files;
        this.byAddress = RdmaSampleSettings.isByAddress(settings);
        this.rdma = Rdma.create(device);
    }

    /** The program of a task. */
    static RdmaProgram of(Task task) {
        return of(task.context());
    }

    private static RdmaProgram of(Context context) {
        if (context.userObject() instanceof RdmaProgram program) {
            return program;
        }
        throw new IllegalStateException(
                Text.format(
                        "context of a sample has no program: context=%s, userObject=%s",
                        context, context.userObject()));
    }

    /** Runs a sample to its end. */
    static void run(RdmaSample sample, SampleSettings settings, PrintStream out) {
        Deadline deadline = Deadline.in(settings.timeout());
        try (Machine machine = RdmaSampleSettings.machine(settings, sample.side());
                Device device =
                        RdmaSampleSettings.device(machine, settings, sample.tasks()).open();
                SharedMemory memory = SharedMemory.allocate(RdmaText.MEMORY_BYTES);
                Mmap mmap = started(memory, sample.memoryPermissions(), device);
                ProgressEngine engine = ProgressEngine.create();
                BufInventory inventory = BufInventory.create(BUFS).start();
                DescriptorFiles files = new DescriptorFiles(deadline);
                RdmaProgram program =
                        new RdmaProgram(
                                sample, settings, out, deadline, device, memory, mmap, engine,
                                inventory, files)) {
            program.configure();
            program.runToIdle();
        }
    }

    private static Mmap started(SharedMemory memory, Permissions permissions, Device device) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(permissions)
                .addDevice(device)
                .start();
    }

    private void configure() {
        rdma.setUserObject(this);
        if (!byAddress) {
            requireDifferentFiles();
            files.announce(file(RdmaSampleSettings.LOCAL_DESCRIPTOR));
        } else if (listens()) {
            rdma.setConnectionRequestCallback(request -> of(request.context()).accept(request));
        }
        rdma.setConnectTimeout(settings.timeout());
        RdmaSampleSettings.setProvider(settings, device, rdma);
        rdma.setGidIndex(RdmaSampleSettings.gidIndex(settings, device));
        sample.configure(this);
        rdma.setStateChangedCallback(
                (context, previous, next) -> of(context).stateChanged(previous, next));
        rdma.setConnectionCallback((changed, previous, next) ->
                of(changed.context()).connectionChanged(changed, next));
        engine.connect(rdma);
        if (event != null) {
            event.asContext().start();
        }
        SampleOption exported = exported();
        if (exported != null) {
            files.announce(file(exported));
        }
    }

    /** A side that read its own descriptor would wait for itself. */
    private void requireDifferentFiles() {
        Path local = file(RdmaSampleSettings.LOCAL_DESCRIPTOR).normalize();
        Path peer = file(RdmaSampleSettings.REMOTE_DESCRIPTOR).normalize();
        SampleOption option = sample.sharedDescriptor();
        Path memoryFile = option == null ? null : file(option).normalize();
        if (local.equals(peer) || local.equals(memoryFile) || peer.equals(memoryFile)) {
            throw new SampleUsageException(
                    Text.format(
                            "descriptors are in one file: local=%s, remote=%s, mmap=%s,"
                                    + " expected=different files",
                            local, peer, Objects.toString(memoryFile, "none")));
        }
    }

    private Path file(SampleOption option) {
        return RdmaSampleSettings.file(settings, option);
    }

    private boolean listens() {
        return sample.options().stream().noneMatch(RdmaSampleSettings.ADDRESS::equals);
    }

    /** The option with the file of what this side exports; null if it exports nothing. */
    private @Nullable SampleOption exported() {
        SampleOption option = sample.sharedDescriptor();
        return RdmaSampleSettings.EXPORTED_MMAP.equals(option)
                        || RdmaSampleSettings.EXPORTED_EVENT.equals(option)
                ? option
                : null;
    }

    private static String kindOf(SampleOption option) {
        return RdmaSampleSettings.isOfEvent(option) ? "sync event descriptor" : "mmap descriptor";
    }

    /** Progresses until the context is IDLE, after success or a failure. */
    private void runToIdle() {
        rdma.start();
        engine.runUntil(this::isDone, deadline.remaining());
        freeRefused(); // what is left after a failure would keep the context in STOPPING
        engine.runUntil(() -> idle, STOP_TIMEOUT); // after a failure it is about to stop
        String reason = reasonOfTheEnd();
        if (failure != null && hasTaskFailed && !reason.isEmpty()) {
            throw new DpuException(
                    failure.status(), failure.getMessage() + ", reason=" + reason, failure);
        }
        DpuException first = failure == null ? rdma.failure() : failure;
        if (first != null) {
            throw first;
        }
    }

    /** The failure of the connection, of which the end of its tasks comes first. */
    private String reasonOfTheEnd() {
        DpuException ofContext = rdma.failure();
        if (ofContext != null) {
            return Reason.of(ofContext);
        }
        return connection == null ? "" : connection.failureReason();
    }

    private boolean isDone() {
        try {
            submitRefused();
        } catch (DpuException e) {
            fail(e);
        }
        return idle || failure != null;
    }

    // ---- callbacks, inside progress ----

    private void stateChanged(ContextState previous, ContextState next) {
        out.println("rdma: " + previous + " to " + next);
        try {
            switch (next) {
                case STARTING -> exchangeAndConnect();
                case RUNNING -> sample.running(this);
                case STOPPING -> {} // its tasks are completed with a failure
                case IDLE -> idle = true;
            }
        } catch (DpuException e) {
            fail(e);
        }
    }

    private void connectionChanged(RdmaConnection changed, RdmaConnection.State next) {
        if (next == RdmaConnection.State.CONNECTED) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    () ->
                            Text.format(
                                    "connected: provider=%s, pathMtuBytes=%d",
                                    changed.provider(), changed.pathMtuBytes()));
        } else if (next == RdmaConnection.State.DISCONNECTED
                && rdma.state() == ContextState.RUNNING) {
            attempt(() -> sample.disconnected(this));
        } else if (next == RdmaConnection.State.FAILED && contextGoesOn()) {
            fail(new DpuException(changed.failure(), changed.failureReason()));
        }
    }

    /** A connection by address that is not established does not stop the context. */
    private boolean contextGoesOn() {
        return rdma.state() == ContextState.STARTING
                || (byAddress && rdma.state() == ContextState.RUNNING);
    }

    /** Waits in a callback, which may take as long as the user does: there is no other work yet. */
    private void exchangeAndConnect() {
        if (!byAddress) {
            RdmaConnection exported = rdma.exportConnection();
            connection = exported;
            write("connection descriptor", RdmaSampleSettings.LOCAL_DESCRIPTOR, exported.blob());
            exportShared();
            byte[] ofPeer = await("connection descriptor", RdmaSampleSettings.REMOTE_DESCRIPTOR);
            requireForeign(ofPeer, exported);
            awaitShared();
            rdma.connect(ofPeer, exported);
        } else if (listens()) {
            int port = RdmaSampleSettings.port(settings);
            rdma.listen(port);
            exportShared(); // the peer connects when it has that
            out.println(
                    Text.format(
                            "listening for %s: address=%s, port=%d",
                            sample.peer(), RdmaSampleSettings.ownAddress(settings, device), port));
        } else {
            awaitShared();
            RdmaAddress address = RdmaSampleSettings.address(settings);
            out.println(Text.format("connecting to %s: address=%s", sample.peer(), address));
            connection = rdma.connect(address, NO_DATA);
        }
    }

    /** The library would connect this side to itself, as by a link from one file to the other. */
    private void requireForeign(byte[] ofPeer, RdmaConnection exported) {
        if (Arrays.equals(ofPeer, exported.blob())) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "descriptor of the peer is the one of this side: file=%s, expected=a"
                                    + " copy of the file that the peer has written",
                            file(RdmaSampleSettings.REMOTE_DESCRIPTOR)));
        }
    }

    private void accept(RdmaConnectionRequest request) {
        out.println("requested: address=" + request.peerAddress().getHostAddress());
        try {
            connection = request.accept(NO_DATA);
        } catch (DpuException e) {
            if (e.status() != Status.CONNECTION_RESET) { // else the next one is accepted
                fail(e);
            }
        }
    }

    private void exportShared() {
        SampleOption option = exported();
        if (option != null) {
            byte[] descriptor = event == null ? mmap.exportRdma(device) : event.exportRdma(device);
            write(kindOf(option), option, descriptor);
        }
    }

    private void awaitShared() {
        SampleOption option = sample.sharedDescriptor();
        if (option != null && exported() == null) {
            sharedByPeer = await(kindOf(option), option);
        }
    }

    private void write(String what, SampleOption option, byte[] descriptor) {
        files.write(file(option), descriptor);
        out.println(
                Text.format(
                        "%s written, copy it to the peer: file=%s, bytes=%d",
                        what, file(option), descriptor.length));
    }

    private byte[] await(String what, SampleOption option) {
        out.println(
                Text.format(
                        "waiting for the %s of %s: file=%s", what, sample.peer(), file(option)));
        return files.await(file(option));
    }

    // ---- for the samples ----

    Rdma rdma() {
        return rdma;
    }

    RdmaConnection connection() {
        return Objects.requireNonNull(connection, "connected in STARTING");
    }

    BufInventory inventory() {
        return inventory;
    }

    /** The local memory. */
    MemorySegment memory() {
        return memory.segment().asSlice(0, RdmaText.MEMORY_BYTES);
    }

    /** The mmap of the local memory. */
    Mmap mmap() {
        return mmap;
    }

    /**
     * An mmap of the peer's memory, from its descriptor. Waits for the peer's machine, not for its
     * program.
     *
     * @throws WrongDataException if the memory is too small for any text
     */
    Mmap importMemory() {
        Mmap imported = Mmap.createFromExport(sharedByPeer, device);
        remote = imported;
        if (imported.sizeBytes() < RdmaText.MEMORY_BYTES) {
            throw new WrongDataException(
                    Text.format(
                            "memory of the peer is too small: bytes=%d, expected=%d or more",
                            imported.sizeBytes(), RdmaText.MEMORY_BYTES));
        }
        return imported;
    }

    /**
     * A sync event of this side, which the peer may read and set, as a context on the engine: a
     * wait for the peer's signal then ends with the connection. To be configured; it is started
     * before it is exported.
     */
    SyncEventContext createEvent() {
        SyncEvent created = SyncEvent.create(device);
        event = created;
        created.addPublisherLocation(SyncEventLocation.REMOTE);
        created.addSubscriberLocation(SyncEventLocation.CPU);
        SyncEventContext context = created.asContext().setUserObject(this);
        engine.connect(context);
        return context;
    }

    /** The context of the event of this side. */
    SyncEventContext event() {
        return Objects.requireNonNull(event, "created when the sample was configured").asContext();
    }

    /**
     * The peer's sync event, from its descriptor. Waits for the peer's machine, not for its
     * program.
     */
    RemoteSyncEvent importEvent() {
        RemoteSyncEvent imported = RemoteSyncEvent.createFromExport(sharedByPeer, device);
        remoteEvent = imported;
        return imported;
    }

    /** The text that the user gave. */
    RdmaText text(SampleOption option) {
        return RdmaText.of(settings, option);
    }

    void print(String line) {
        out.println(line);
    }

    /** Submits the only task of a sample, as {@link #submit(Task, int, Buf...)}. */
    void submit(Task task, @Nullable Buf... bufs) {
        submit(task, TASKS, bufs);
    }

    /**
     * Submits a task with the number of remaining tasks as its user data. What is refused for lack
     * of room is left to the main loop: a callback cannot wait for it.
     *
     * @param remaining number of tasks up to the end of the sample, with this one
     * @throws DpuException if it was refused for another reason; the task and its bufs are free
     */
    void submit(Task task, int remaining, @Nullable Buf... bufs) {
        task.setUserData(remaining);
        submit(new Refused(task, "submitted: remainingTasks=" + remaining, Arrays.asList(bufs)));
    }

    /** Submits a task of the event, or once more one that is not done, without a line about it. */
    void submitQuietly(Task task, @Nullable Buf... bufs) {
        submit(new Refused(task, null, Arrays.asList(bufs)));
    }

    /** Behind those that wait for room. */
    private void submit(Refused task) {
        refused.add(task);
        submitRefused();
    }

    private void submitRefused() {
        while (!refused.isEmpty()) {
            Refused next = refused.element();
            Status submitted = next.task.trySubmit();
            if (submitted == Status.AGAIN) {
                return;
            }
            refused.remove();
            if (submitted != Status.SUCCESS) {
                DpuException reason = Objects.requireNonNull(next.task.refusal(), "it was refused");
                next.free();
                throw reason;
            }
            if (next.line != null) {
                out.println(next.line);
            }
        }
    }

    private void freeRefused() {
        refused.forEach(Refused::free);
        refused.clear();
    }

    /**
     * Task that is to be submitted as soon as there is room.
     *
     * @param line to print then
     * @param bufs that are released with it
     */
    private record Refused(Task task, @Nullable String line, List<@Nullable Buf> bufs) {
        void free() {
            task.free();
            bufs.stream().filter(Objects::nonNull).forEach(Buf::release);
        }
    }

    /** Runs a step of a callback: its failure becomes the result of the program, and stops. */
    void attempt(Runnable step) {
        try {
            step.run();
        } catch (DpuException e) {
            fail(e);
        }
    }

    /**
     * Ends a successful task: verifies and prints, frees the task and its bufs, and stops the
     * context after the last one.
     *
     * @param verifyAndPrint throws if the data is wrong, which becomes the result of the program;
     *     may submit the sample's next task
     */
    void succeeded(Task task, Runnable verifyAndPrint, @Nullable Buf... bufs) {
        attempt(verifyAndPrint);
        free(task, bufs);
    }

    /**
     * Ends a failed task: its status becomes the result of the program, with the reason of the
     * context, which is told later.
     */
    void failed(Task task, @Nullable Buf... bufs) {
        hasTaskFailed = failure == null;
        fail(
                new DpuException(
                        task.status(),
                        Text.format(
                                "task of the sample has failed: sample=%s, connection=%s",
                                sample.name(), connection())));
        free(task, bufs);
    }

    private void free(Task task, @Nullable Buf... bufs) {
        long remaining = task.userData() - 1;
        task.free();
        Arrays.stream(bufs).filter(Objects::nonNull).forEach(Buf::release);
        if (remaining == 0) {
            rdma.stop();
        }
    }

    /**
     * Waits until the user presses Enter, or without a user until {@link #endWithUser}.
     *
     * @param then runs at the end of the wait, inside progress
     * @return whether there is a user
     */
    boolean awaitUser(Runnable then) {
        UserInput started = UserInput.await(engine, () -> attempt(then));
        input = started;
        return started.hasUser();
    }

    /** The peer has disconnected, which ends a wait without a user. */
    void endWithUser() {
        Objects.requireNonNull(input, "begun in RUNNING").peerHasEnded();
    }

    /**
     * Stops, since the peer has disconnected. That completes a task that waits for the peer with a
     * failure, and one that was done before by its success.
     */
    void endWithPeer() {
        rdma.stop();
    }

    /** Keeps the first failure, and stops. */
    void fail(DpuException e) {
        if (failure == null) {
            failure = e;
        }
        rdma.stop();
    }

    /** Stops the context, unless it is IDLE, and releases what it has used. */
    @Override
    public void close() {
        freeRefused();
        rdma.close();
        if (input != null) {
            input.close();
        }
        if (remote != null) {
            remote.close();
        }
        if (remoteEvent != null) {
            remoteEvent.close();
        }
        if (event != null) {
            engine.stop(event.asContext(), STOP_TIMEOUT);
            event.close();
        }
    }
}
