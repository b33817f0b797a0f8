package io.softdpu.cli;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionStep;
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
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Duration;

/**
 * One of the three roles as a process that pauses at a given step of its session, so that it can be
 * stopped exactly there: its control thread prints {@code paused} and waits for a line of input.
 * Its data path goes on meanwhile. Otherwise it ends as the command does.
 */
public final class PausedRole {
    /** A moment at which it can pause: each step, and the middle of the load of an initiator. */
    static final String LOAD = "LOAD";

    private PausedRole() {}

    /**
     * Runs the role.
     *
     * @param arguments the role, where it pauses, the control timeout in seconds, and for a service
     *     the address of its target, for an initiator how many operations it makes
     */
    public static void main(String[] arguments) {
        String pause = arguments[1];
        Duration timeout = Duration.ofSeconds(Long.parseLong(arguments[2]));
        PrintWriter err = new PrintWriter(System.err, true);
        int code = 0;
        try (Machine machine = Machine.open(side(arguments[0]))) {
            StorageRole role =
                    switch (arguments[0]) {
                        case "target" -> target(machine, pause, timeout);
                        case "zero-copy" -> service(machine, pause, timeout, arguments[3]);
                        default -> initiator(machine, pause, timeout, arguments[3]);
                    };
            try (role) {
                role.run();
            }
        } catch (DpuException e) {
            code = Errors.report(e, err).code();
        }
        System.exit(code);
    }

    private static Side side(String role) {
        return switch (role) {
            case "target" -> Side.TARGET;
            case "zero-copy" -> Side.DPU;
            default -> Side.HOST;
        };
    }

    private static StorageRole target(Machine machine, String pause, Duration timeout) {
        StorageTarget target =
                StorageTarget.open(
                        machine,
                        TargetOptions.builder()
                                .device("t0")
                                .cpu(CpuBinding.any())
                                .controlTimeout(timeout)
                                .build(),
                        BlockDevice.open("memory:4MiB", 4096),
                        new Pausing(pause));
        System.out.println("listening: port=" + target.port());
        return target;
    }

    private static StorageRole service(
            Machine machine, String pause, Duration timeout, String storageServer) {
        return ZeroCopyService.open(
                machine,
                ServiceOptions.builder()
                        .device("03:00.0")
                        .representor("0b:00.0")
                        .cpu(CpuBinding.any())
                        .storageServer(ServiceOptions.parseStorageServer(storageServer))
                        .controlTimeout(timeout)
                        .build(),
                new Pausing(pause));
    }

    private static StorageRole initiator(
            Machine machine, String pause, Duration timeout, String operations) {
        return StorageInitiator.open(
                machine,
                InitiatorOptions.builder()
                        .device("0b:00.0")
                        .cpu(CpuBinding.any())
                        .controlTimeout(timeout)
                        .build(),
                ExecutionStrategy.READ_THROUGHPUT_TEST.workload(
                        new StrategySettings(Long.parseLong(operations), 64, 1, null)),
                new PausingInitiator(pause));
    }

    private static void pause() {
        System.out.println("paused");
        try {
            if (System.in.read() < 0) {
                throw new AssertionError("the test has ended");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Pausing(String at) implements SessionListener {
        @Override
        public void step(SessionStep step, String detail) {
            if (step == SessionStep.WAITING_FOR_CLIENT) {
                System.out.println("waiting: " + detail);
            }
            if (step.name().equals(at)) {
                pause();
            }
        }
    }

    private static final class PausingInitiator implements InitiatorListener {
        private final String at;
        private boolean paused;

        PausingInitiator(String at) {
            this.at = at;
        }

        @Override
        public void step(SessionStep step, String detail) {
            if (step.name().equals(at)) {
                pause();
            }
        }

        @Override
        public void phaseProgress(Phase phase, long operations, long bytes, Duration elapsed) {
            if (at.equals(LOAD) && operations > 0 && !paused) {
                paused = true;
                pause();
            }
        }
    }
}
