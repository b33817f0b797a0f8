package io.softdpu.perf.demo;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import io.softdpu.perf.child.ChildReport;
import io.softdpu.perf.child.JvmCommand;
import io.softdpu.perf.child.ProgressLine;
import io.softdpu.perf.child.ReadyLine;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.result.MachineUse;
import io.softdpu.storage.workload.Content;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One run of the demo: starts target, service and initiator, each when the one before it is ready,
 * follows them to their ends, and computes by itself what the volume's SHA-256 must be.
 *
 * <p>{@link #run} belongs to one thread, which sees all events one after the other; {@link
 * #interrupt} may come from another. Whatever happens, no process and no folder is left behind.
 */
public final class DemoSession {
    /** Of the name of the folder, which has the reports of the processes besides their fabric. */
    private static final String PREFIX = "softdpu-demo-";

    /**
     * How long nothing may be heard while everything is well; large volumes are loaded silently.
     */
    private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** A pace that any machine keeps when it fills memory. */
    private static final long SLOWEST_BYTES_PER_SECOND = 32L << 20;

    /** Time beyond the control timeout for the others to end after the first has ended. */
    private static final long ENDING_SECONDS = 5;

    /** Time for a process to end with its parent: a second, ten times that on a busy machine. */
    private static final long LAST_CALL_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Time that Ctrl-C waits for the processes, which usually got the signal, too. */
    private static final long INTERRUPT_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** Limit of the events that wait here; a process that prints faster waits, too. */
    private static final int MAX_EVENTS = 1024;

    /** Stage of a process that the demo waits for, for the error when it times out. */
    private enum Stage {
        /** All goes well so far. */
        WORKING,
        /** One process has ended; the others are to follow by themselves. */
        ENDING,
        /** Those that are left have been asked to end. */
        ASKED,
        /** Those that are left have been killed. */
        KILLED
    }

    private final DemoOptions options;
    private final JvmCommand jvm;
    private final DemoListener listener;
    private final List<String> cpus;
    private final BlockingQueue<ChildProcess.Event> events = new LinkedBlockingQueue<>(MAX_EVENTS);
    private final Map<DemoRole, ChildProcess> children = new EnumMap<>(DemoRole.class);
    private final UseByPhase use = new UseByPhase();
    private final Map<DemoRole, ChildOutcome> outcomes = new EnumMap<>(DemoRole.class);
    private Stage stage = Stage.WORKING;
    private long deadlineNanos;
    private @Nullable String timedOut;
    private boolean interrupted;
    private volatile boolean followed;
    private @Nullable SharedFolder workspace;

    /** A demo that has not begun: there is nothing yet that would have to be taken down. */
    public DemoSession(DemoOptions options, JvmCommand jvm, DemoListener listener) {
        this.options = options;
        this.jvm = jvm;
        this.listener = listener;
        this.cpus = CpuChoice.here(options.cores());
    }

    /** The CPU affinity of target, service and initiator: a value of {@code --cpu} each. */
    public List<String> cpus() {
        return cpus;
    }

    /**
     * Runs the demo to its end, good or bad.
     *
     * @throws DpuException if a process cannot be started, the volume cannot be read, or the folder
     *     cannot be created or deleted
     */
    public DemoResult run() {
        makeWorkspace();
        CompletableFuture<String> expectedSha256 =
                CompletableFuture.supplyAsync(() -> volumeContent().sha256(options.sizeBytes()));
        try {
            start(DemoRole.TARGET, RoleArguments::target);
            follow();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DpuException(Status.CONNECTION_ABORTED, "demo was interrupted", e);
        } finally {
            stopFollowing();
            endChildren(LAST_CALL_NANOS);
            removeWorkspace();
        }
        List<ChildOutcome> ends = new ArrayList<>();
        for (DemoRole role : DemoRole.values()) {
            ends.add(outcomes.getOrDefault(role, ChildOutcome.notStarted(role.id())));
        }
        // After a failure the hash of a large volume is not worth minutes of waiting.
        boolean wanted = ends.stream().allMatch(ChildOutcome::ok) || expectedSha256.isDone();
        return new DemoResult(
                options.sizeBytes(),
                wanted ? get(expectedSha256) : null,
                ends.reversed(),
                use.used(),
                use.othersProcessors(),
                timedOut);
    }

    /** Ends a demo that is under way: when this returns, no process and no folder is left. */
    public void interrupt() {
        synchronized (this) {
            interrupted = true;
        }
        endChildren(INTERRUPT_NANOS);
        removeWorkspace();
    }

    /** Creates the workspace, unless the demo was interrupted: it would not be removed then. */
    private synchronized void makeWorkspace() {
        if (!interrupted) {
            workspace = SharedFolder.create(PREFIX);
        }
    }

    private synchronized void removeWorkspace() {
        if (workspace != null) {
            workspace.close();
        }
    }

    /** True after {@link #interrupt}. */
    public synchronized boolean interrupted() {
        return interrupted;
    }

    private void follow() throws InterruptedException {
        extendDeadline();
        while (outcomes.size() < started()) {
            long left = deadlineNanos - System.nanoTime();
            ChildProcess.@Nullable Event event = events.poll(left, TimeUnit.NANOSECONDS);
            switch (event) {
                case null -> escalate();
                case ChildProcess.Event.Log log -> listener.log(log.child().name(), log.text());
                case ChildProcess.Event.Line line -> hear(line);
                case ChildProcess.Event.Exited exited -> exited(exited);
            }
        }
    }

    /** Passes an event on; waits while too many do. Threads of the processes. */
    private void deliver(ChildProcess.Event event) {
        try {
            if (!followed) {
                events.put(event);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nothing interrupts it; the event is lost
        }
    }

    /** Lets the processes print what they like while they end. */
    private void stopFollowing() {
        followed = true;
        events.clear(); // each thread has at most one event that waits for room
    }

    private void hear(ChildProcess.Event.Line line) {
        if (stage == Stage.WORKING) {
            extendDeadline();
        }
        DemoRole role = DemoRole.of(line.child().name());
        Optional<ResourceUse> answer = ResourceUse.parse(line.text());
        if (answer.isPresent()) {
            use.answered(role, answer.get());
            return;
        }
        switch (role) {
            case TARGET -> {
                OptionalInt port = ReadyLine.portOf(line.text());
                if (port.isPresent()) {
                    start(DemoRole.ZERO_COPY, arguments -> arguments.service(port.getAsInt()));
                }
            }
            case ZERO_COPY -> {
                if (ReadyLine.isWaiting(line.text())) {
                    start(DemoRole.INITIATOR, RoleArguments::initiator);
                }
            }
            case INITIATOR ->
                    ProgressLine.parse(line.text())
                            .ifPresent(
                                    progress -> hear(DemoStep.ofKey(progress.phase()), progress));
        }
    }

    private void hear(DemoStep step, ProgressLine progress) {
        if (progress.isBoundary()) {
            for (DemoRole role : use.border(step, progress.finished(), MachineUse.now())) {
                ChildProcess child = children.get(role);
                if (child != null) {
                    child.askForUse();
                }
            }
        }
        listener.progress(step, progress);
    }

    private void exited(ChildProcess.Event.Exited exited) {
        ChildProcess child = exited.child();
        outcomes.put(
                DemoRole.of(child.name()),
                new ChildOutcome(
                        child.name(),
                        exited.exitCode(),
                        child.killed(),
                        outcomes.size(),
                        exited.exitCode() == 0 ? List.of() : child.complaint(),
                        readReport(child)));
        if (stage == Stage.WORKING) {
            enter(Stage.ENDING, TimeUnit.SECONDS.toNanos(endingSeconds()));
        }
    }

    /** Nothing was heard for too long. */
    private void escalate() {
        switch (stage) {
            case WORKING -> {
                timedOut = "no output of any process: seconds=" + silenceNanos() / 1_000_000_000;
                children.values().forEach(ChildProcess::end);
                enter(Stage.ASKED, LAST_CALL_NANOS);
            }
            case ENDING -> {
                timedOut = "a process did not end after another: seconds=" + endingSeconds();
                children.values().forEach(ChildProcess::end);
                enter(Stage.ASKED, LAST_CALL_NANOS);
            }
            case ASKED -> {
                children.values().forEach(ChildProcess::kill);
                enter(Stage.KILLED, LAST_CALL_NANOS);
            }
            case KILLED ->
                    throw new DpuException(
                            Status.OPERATING_SYSTEM,
                            "process cannot be killed: processes=" + children.keySet());
        }
    }

    private void enter(Stage next, long nanos) {
        stage = next;
        deadlineNanos = System.nanoTime() + nanos;
    }

    private void extendDeadline() {
        deadlineNanos = System.nanoTime() + silenceNanos();
    }

    private long silenceNanos() {
        return SILENCE_NANOS
                + TimeUnit.SECONDS.toNanos(options.sizeBytes() / SLOWEST_BYTES_PER_SECOND);
    }

    private long endingSeconds() {
        return options.controlTimeoutSeconds() + ENDING_SECONDS;
    }

    private synchronized int started() {
        return children.size();
    }

    /**
     * Starts a process, unless another has ended or the demo was interrupted: the demo would not
     * wait for it then.
     */
    private synchronized void start(DemoRole role, Function<RoleArguments, List<String>> command) {
        SharedFolder folder = workspace;
        if (interrupted || folder == null || stage != Stage.WORKING || children.containsKey(role)) {
            return;
        }
        listener.starting(role.id(), role.index() + 1, DemoRole.values().length);
        children.put(
                role,
                ChildProcess.start(
                        role.id(),
                        jvm.with(command.apply(new RoleArguments(options, cpus, folder))),
                        List.of(
                                "SOFTDPU_FABRIC",
                                RoleArguments.fabric(options, folder, role).toString()),
                        RoleArguments.report(folder, role),
                        this::deliver));
    }

    private Content volumeContent() {
        return options.volumeFile() == null
                ? Content.pattern(Content.VOLUME_PATTERN_SEED)
                : Content.file(options.volumeFile());
    }

    private void endChildren(long patienceNanos) {
        List<ChildProcess> all;
        synchronized (this) {
            all = List.copyOf(children.values());
        }
        all.forEach(ChildProcess::end);
        long deadline = System.nanoTime() + patienceNanos;
        try {
            for (ChildProcess child : all) {
                if (!child.awaitEnd(Math.max(0, deadline - System.nanoTime()))) {
                    child.kill();
                    child.awaitEnd(LAST_CALL_NANOS);
                }
            }
        } catch (InterruptedException e) {
            all.forEach(ChildProcess::kill);
            Thread.currentThread().interrupt();
        }
    }

    private @Nullable ChildReport readReport(ChildProcess child) {
        if (!Files.exists(child.report())) {
            return null;
        }
        try {
            return ChildReport.read(child.report());
        } catch (IOException e) {
            if (interrupted()) {
                return null; // the folder is being removed
            }
            throw new DpuException(
                    Status.IO_FAILED,
                    "report cannot be read: process="
                            + child.name()
                            + ", reason="
                            + ForeignText.escapeAndCut(Reason.of(e)),
                    e);
        }
    }

    private static String get(CompletableFuture<String> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof DpuException cause) {
                throw cause;
            }
            throw e;
        }
    }
}
