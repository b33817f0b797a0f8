package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.StorageRole;
import io.softdpu.storage.initiator.InitiatorListener;
import io.softdpu.storage.initiator.InitiatorOptions;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.relay.ServiceOptions;
import io.softdpu.storage.relay.ZeroCopyService;
import io.softdpu.storage.server.StorageTarget;
import io.softdpu.storage.server.TargetOptions;
import io.softdpu.storage.workload.ExecutionStrategy;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.StrategySettings;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The roles that are not under test, in the JVM of the test: they end with an exception, and no
 * time is spent on starting processes.
 */
final class Peers implements AutoCloseable {
    private final Path fabric;
    private final Duration timeout;
    private final Map<String, StorageRole> roles = new LinkedHashMap<>();
    private final Map<String, Machine> machines = new LinkedHashMap<>();
    private final Map<String, CompletableFuture<SessionReport>> ends = new LinkedHashMap<>();
    private final CountDownLatch load = new CountDownLatch(1);

    private int targetPort;

    Peers(Path fabric) {
        this(fabric, Patience.LIMIT);
    }

    /** Those with this control timeout. */
    Peers(Path fabric, Duration timeout) {
        this.fabric = fabric;
        this.timeout = timeout;
    }

    /** Starts a target, and says where it listens. */
    int target() {
        StorageTarget target =
                StorageTarget.open(
                        machine("target", Side.TARGET),
                        TargetOptions.builder()
                                .device("t0")
                                .cpu(CpuBinding.any())
                                .controlTimeout(timeout)
                                .build(),
                        BlockDevice.open("memory:1MiB", 4096),
                        SessionListener.none());
        run("target", target);
        targetPort = target.port();
        return targetPort;
    }

    /** Where the target listens that was started last. */
    int targetPort() {
        return targetPort;
    }

    /** Starts a service for the target that listens there. */
    void service(int port) {
        run(
                "zero-copy",
                ZeroCopyService.open(
                        machine("zero-copy", Side.DPU),
                        ServiceOptions.builder()
                                .device("03:00.0")
                                .representor("0b:00.0")
                                .cpu(CpuBinding.any())
                                .storageServer(
                                        ServiceOptions.parseStorageServer("127.0.0.1:" + port))
                                .controlTimeout(timeout)
                                .build(),
                        SessionListener.none()));
    }

    /** Starts an initiator that reads so often. */
    void initiator(long operations) {
        initiator(ExecutionStrategy.READ_THROUGHPUT_TEST, operations);
    }

    /** Starts an initiator, which is returned. */
    StorageInitiator initiator(ExecutionStrategy strategy, long operations) {
        StorageInitiator initiator =
                StorageInitiator.open(
                        machine("initiator", Side.HOST),
                        InitiatorOptions.builder()
                                .device("0b:00.0")
                                .cpu(CpuBinding.any())
                                .controlTimeout(timeout)
                                .build(),
                        strategy.workload(new StrategySettings(operations, 16, 1, null)),
                        new InitiatorListener() {
                            @Override
                            public void phaseProgress(
                                    Phase phase, long done, long bytes, Duration elapsed) {
                                if (done > 0) {
                                    load.countDown();
                                }
                            }
                        });
        run("initiator", initiator);
        return initiator;
    }

    /** Counted down when the initiator is in the middle of its work. */
    CountDownLatch load() {
        return load;
    }

    /** What each of them ends with, by the names of their roles. */
    Map<String, CompletableFuture<SessionReport>> ends() {
        return ends;
    }

    /** Waits until each of them has ended, and well. */
    void assertAllSucceed() throws Exception {
        for (CompletableFuture<SessionReport> end : ends.values()) {
            assertThat(end.get(Patience.SECONDS, TimeUnit.SECONDS).status())
                    .isEqualTo(Status.SUCCESS);
        }
    }

    /** Waits until each of them has ended, with a failure. */
    void assertAllFail() {
        ends.forEach((role, end) -> {
            try {
                throw new AssertionError(
                        role + " ended well: " + end.get(Patience.SECONDS, TimeUnit.SECONDS));
            } catch (ExecutionException e) {
                assertThat(e.getCause()).as(role).isInstanceOf(DpuException.class);
                assertThat(Errors.codeOf((DpuException) e.getCause())).isEqualTo(ExitCode.FAILED);
            } catch (InterruptedException | TimeoutException e) {
                throw new AssertionError("no end: role=" + role, e);
            }
        });
    }

    private Machine machine(String role, Side side) {
        Machine machine = Machine.builder(side).fabricFolder(fabric).open();
        machines.put(role, machine);
        return machine;
    }

    private void run(String name, StorageRole role) {
        roles.put(name, role);
        CompletableFuture<SessionReport> end = new CompletableFuture<>();
        ends.put(name, end);
        Thread.ofPlatform()
                .name("control-" + name)
                .start(() -> {
                    try {
                        end.complete(role.run());
                    } catch (RuntimeException | Error e) {
                        end.completeExceptionally(e);
                    }
                });
    }

    @Override
    public String toString() {
        return ends.toString();
    }

    /** Ends who still runs, and checks that nothing was left open: a machine would refuse. */
    @Override
    public void close() {
        roles.values().forEach(StorageRole::close);
        machines.values().forEach(Machine::close);
    }
}
