package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The storage roles as separate processes, in the fabric folder of a test. */
final class Pipeline {

    private static final int SIGKILLED = 128 + 9;
    private static final String CONTROL_TIMEOUT = "--control-timeout";

    private final Processes processes;
    private final Path fabric;

    Pipeline(Processes processes, Path fabric) {
        this.processes = processes;
        this.fabric = fabric;
    }

    /** The command line of softdpu, ended by Ctrl-C as at a terminal. */
    static JavaCommand command(String... arguments) {
        return JavaCommand.ofClass(SoftDpu.class).interruptible().withArguments(arguments);
    }

    ChildProcess start(String... arguments) {
        return processes.start(command(arguments).withEnvironment("SOFTDPU_FABRIC", "" + fabric));
    }

    /** A target that listens. */
    ChildProcess target(String... more) {
        ChildProcess target = start(role("storage target -d t0 --cpu any --listen-port 0", more));
        target.awaitLine("listening: port=");
        return target;
    }

    /** A target that listens, with 4 MiB of the pattern. */
    ChildProcess patternTarget(String... more) {
        return target(words(List.of("--volume", "memory:4MiB"), more));
    }

    static int portOf(ChildProcess target) {
        String line = target.awaitLine("listening: port=");
        return Integer.parseInt(line.substring(line.indexOf('=') + 1));
    }

    /** A service that has found its target and waits for an initiator. */
    ChildProcess service(ChildProcess target, String... more) {
        return service(portOf(target), more);
    }

    /** The same for the target that listens there. */
    ChildProcess service(int port, String... more) {
        ChildProcess service = start(serviceArguments(port, more));
        service.awaitLine("waiting: ");
        return service;
    }

    /** As {@link #service}, with its errors among its output, in the order of both. */
    ChildProcess serviceWithErrorsInOutput(ChildProcess target, String... more) {
        ChildProcess service =
                processes.start(
                        command(serviceArguments(portOf(target), more))
                                .behind("/bin/sh", "-c", "exec \"$@\" 2>&1", "sh")
                                .withEnvironment("SOFTDPU_FABRIC", "" + fabric));
        service.awaitLine("waiting: ");
        return service;
    }

    private static String[] serviceArguments(int port, String... more) {
        return role(
                "storage zero-copy -d 03:00.0 -r 0b:00.0 --cpu any --storage-server 127.0.0.1:"
                        + port,
                more);
    }

    ChildProcess initiator(String strategy, String... more) {
        return initiatorOf("--execution-strategy", strategy, more);
    }

    /** An initiator with a phase as a parent gives it, which prints its progress. */
    ChildProcess initiatorOfPhase(String phase) {
        return initiatorOf("--phase", phase);
    }

    private ChildProcess initiatorOf(String option, String work, String... more) {
        return start(role("storage initiator -d 0b:00.0 --cpu any " + option + " " + work, more));
    }

    /** An initiator that reads until it is interrupted, and has begun to. */
    ChildProcess initiatorUnderLoad() {
        return initiatorUnderLoad("read_throughput_test");
    }

    /** The same with another workload. */
    ChildProcess initiatorUnderLoad(String strategy, String... more) {
        ChildProcess initiator =
                initiator(
                        strategy,
                        words(List.of("--run-limit-operation-count", "1000000000000"), more));
        initiator.awaitErrorLine("Core: 0 running");
        return initiator;
    }

    static void assertKilled(ChildProcess process) {
        process.kill();
        assertThat(process.awaitExit()).isEqualTo(SIGKILLED);
    }

    /** Its words, and the control timeout of {@link Patience} unless there is another. */
    private static String[] role(String words, String... more) {
        String timeout =
                List.of(more).contains(CONTROL_TIMEOUT)
                        ? ""
                        : " " + CONTROL_TIMEOUT + " " + Patience.SECONDS;
        return words(List.of((words + timeout).split(" ")), more);
    }

    private static String[] words(List<String> first, String... more) {
        List<String> all = new ArrayList<>(first);
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }
}
