package io.softdpu.storage;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.storage.initiator.InitiatorListener;
import io.softdpu.storage.initiator.InitiatorOptions;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.relay.ServiceOptions;
import io.softdpu.storage.relay.ZeroCopyService;
import io.softdpu.storage.server.StorageTarget;
import io.softdpu.storage.server.TargetOptions;
import io.softdpu.storage.session.Session;
import io.softdpu.storage.worker.Closeables;
import io.softdpu.storage.worker.Worker;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The three roles of a session in one JVM, each with a machine and a control thread of its own, in
 * one fabric folder.
 */
public final class Pipeline implements AutoCloseable {
    /** The name of the service's server. */
    public static final String CHANNEL = "pipeline";

    private final Machine host;
    private final Machine dpu;
    private final Machine targetMachine;
    private final long controlTimeoutNanos;
    private String channel = CHANNEL;
    private int cores = 1;
    private List<CpuBinding> serviceCpus = List.of(CpuBinding.any());
    private WaitMode waitMode = WaitMode.ADAPTIVE;
    private int transactions = 32;
    private long stagingBytes = StorageDefaults.STAGING_BYTES;
    private InitiatorListener listener = InitiatorListener.none();
    private SessionListener serviceListener = SessionListener.none();
    private SessionListener targetListener = SessionListener.none();

    private StorageTarget target;
    private ZeroCopyService service;
    private StorageInitiator initiator;
    private CompletableFuture<SessionReport> targetEnd;
    private CompletableFuture<SessionReport> serviceEnd;

    /** Opens the machines of roles that wait for each other. */
    public Pipeline(Path folder) {
        this(folder, Patience.NANOS);
    }

    /** Opens the machines of roles with this control timeout. */
    public Pipeline(Path folder, long controlTimeoutNanos) {
        this.controlTimeoutNanos = controlTimeoutNanos;
        List<Machine> opened = new ArrayList<>();
        try {
            for (Side side : List.of(Side.HOST, Side.DPU, Side.TARGET)) {
                opened.add(Machine.builder(side).fabricFolder(folder).open());
            }
        } catch (RuntimeException e) {
            Closeables.afterFailure(e, opened.toArray(AutoCloseable[]::new));
            throw e;
        }
        host = opened.get(0);
        dpu = opened.get(1);
        targetMachine = opened.get(2);
    }

    /** Data path threads of the initiator and the target, and of the service. */
    public Pipeline cores(int initiatorCores, int coresOfTheService) {
        cores = initiatorCores;
        return serviceCpus(Collections.nCopies(coresOfTheService, CpuBinding.any()));
    }

    /** What each data path thread of the service is bound to. */
    public Pipeline serviceCpus(List<CpuBinding> cpus) {
        serviceCpus = List.copyOf(cpus);
        return this;
    }

    /** Another name for the service's server. */
    public Pipeline channel(String name) {
        channel = name;
        return this;
    }

    /** What the data path threads of all three do without work. */
    public Pipeline waitMode(WaitMode mode) {
        waitMode = mode;
        return this;
    }

    public Pipeline transactions(int count) {
        transactions = count;
        return this;
    }

    /** Memory of each core of the target for volumes that are not memory of this process. */
    public Pipeline stagingBytes(long bytes) {
        stagingBytes = bytes;
        return this;
    }

    public Pipeline listener(InitiatorListener hears) {
        listener = hears;
        return this;
    }

    public Pipeline serviceListener(SessionListener hears) {
        serviceListener = hears;
        return this;
    }

    public Pipeline targetListener(SessionListener hears) {
        targetListener = hears;
        return this;
    }

    /** Starts a target with this volume. */
    public StorageTarget startTarget(BlockDevice volume) {
        TargetOptions.Builder options =
                TargetOptions.builder()
                        .device("t0")
                        .waitMode(waitMode)
                        .stagingBytes(stagingBytes)
                        .controlTimeout(Duration.ofNanos(controlTimeoutNanos));
        for (int i = 0; i < cores; i++) {
            options.cpu(CpuBinding.any());
        }
        target = StorageTarget.open(targetMachine, options.build(), volume, targetListener);
        targetEnd = begin(target);
        return target;
    }

    /** Starts a service for a target at this port, and waits until it can be connected to. */
    public ZeroCopyService startService(int targetPort) {
        ServiceOptions.Builder options =
                ServiceOptions.builder()
                        .device("p0")
                        .waitMode(waitMode)
                        .representor("0b:00.0")
                        .storageServer(ServiceOptions.parseStorageServer("127.0.0.1:" + targetPort))
                        .commandChannelName(channel)
                        .controlTimeout(Duration.ofNanos(controlTimeoutNanos));
        serviceCpus.forEach(options::cpu);
        CountDownLatch waiting = new CountDownLatch(1);
        SessionListener outer = serviceListener;
        service =
                ZeroCopyService.open(
                        dpu,
                        options.build(),
                        new SessionListener() {
                            @Override
                            public void step(SessionStep step, String detail) {
                                if (step == SessionStep.WAITING_FOR_CLIENT) {
                                    waiting.countDown();
                                }
                                outer.step(step, detail);
                            }
                        });
        serviceEnd = begin(service);
        serviceEnd.whenComplete((_, _) -> waiting.countDown());
        await(waiting);
        return service;
    }

    /** Opens an initiator; the caller runs it. */
    public StorageInitiator openInitiator(Workload workload) {
        return openInitiator(workload, _ -> {});
    }

    /** Opens an initiator with further options; the caller runs it. */
    public StorageInitiator openInitiator(
            Workload workload, Consumer<InitiatorOptions.Builder> further) {
        InitiatorOptions.Builder options =
                InitiatorOptions.builder()
                        .device("pf0")
                        .waitMode(waitMode)
                        .commandChannelName(channel)
                        .transactionCount(transactions)
                        .controlTimeout(Duration.ofNanos(controlTimeoutNanos));
        for (int i = 0; i < cores; i++) {
            options.cpu(CpuBinding.any());
        }
        further.accept(options);
        initiator = StorageInitiator.open(host, options.build(), workload, listener);
        return initiator;
    }

    /** Starts a target with a volume that holds the known pattern, a service, and an initiator. */
    public StorageInitiator start(long volumeSizeBytes, Workload workload) {
        StorageTarget started = startTarget(BlockDevice.open("memory:" + volumeSizeBytes, 4096));
        startService(started.port());
        return openInitiator(workload);
    }

    public SessionReport targetReport() {
        return target.report();
    }

    public SessionReport serviceReport() {
        return service.report();
    }

    public StorageTarget target() {
        return target;
    }

    public ZeroCopyService service() {
        return service;
    }

    /** The workers of all three roles. */
    public List<Worker> workers() {
        return Stream.of(target, service, initiator)
                .flatMap(role -> ((Session<?>) role).workers().inOrder().stream())
                .map(Worker.class::cast)
                .toList();
    }

    /** Waits for the target's end; throws its failure. */
    public SessionReport awaitTarget() {
        return await(targetEnd);
    }

    /** Waits for the service's end; throws its failure. */
    public SessionReport awaitService() {
        return await(serviceEnd);
    }

    public CompletableFuture<SessionReport> targetEnd() {
        return targetEnd;
    }

    public CompletableFuture<SessionReport> serviceEnd() {
        return serviceEnd;
    }

    /** Runs a role on a thread of its own. */
    public static CompletableFuture<SessionReport> begin(StorageRole role) {
        CompletableFuture<SessionReport> end = new CompletableFuture<>();
        Thread.ofPlatform()
                .name("control-" + role.report().role())
                .start(() -> {
                    try {
                        end.complete(role.run());
                    } catch (Throwable e) {
                        end.completeExceptionally(e);
                    }
                });
        return end;
    }

    /** The value; throws its exception unwrapped. */
    public static <T> T await(CompletableFuture<T> future) {
        try {
            return future.get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("no end in time", e);
        }
    }

    /** Waits for the latch. */
    public static void await(CountDownLatch latch) {
        try {
            if (!latch.await(Patience.SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("no end in time");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Waits for the end of a thread. */
    public static void join(Thread thread) {
        try {
            if (!thread.join(Patience.DEADLINE)) {
                AssertionError stuck = new AssertionError("no end in time: " + thread.getName());
                stuck.setStackTrace(thread.getStackTrace());
                throw stuck;
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Where the kernel lets the threads of this name run. */
    public static List<String> cpusOfThreads(String name) {
        return statusOfThreads(name, "Cpus_allowed_list:");
    }

    /** How often the threads of this name have slept. */
    public static long sleepsOfThreads(String name) {
        return statusOfThreads(name, "voluntary_ctxt_switches:").stream()
                .mapToLong(Long::parseLong)
                .sum();
    }

    /** A value of each thread of this name, of which the kernel keeps the first 15 characters. */
    private static List<String> statusOfThreads(String name, String key) {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            List<String> found = new ArrayList<>();
            for (Path task : tasks.toList()) {
                String status = ProcessView.text(task.resolve("status"));
                if (status.startsWith("Name:\t" + name + "\n")) {
                    status.lines()
                            .filter(line -> line.startsWith(key))
                            .map(line -> line.substring(key.length()).strip())
                            .forEach(found::add);
                }
            }
            return found;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends all running roles; the machines stay open for the next session. */
    public void endSession() {
        for (StorageRole role : new StorageRole[] {initiator, service, target}) {
            if (role != null) {
                role.close();
            }
        }
        initiator = null;
        service = null;
        target = null;
    }

    /** Ends all running roles and closes the machines, which fails if an object was left open. */
    @Override
    public void close() {
        endSession();
        for (Machine machine : List.of(host, dpu, targetMachine)) {
            machine.close();
        }
    }

    /** The status of a failure. */
    public static io.softdpu.core.Status statusOf(Throwable e) {
        return ((DpuException) e).status();
    }
}
