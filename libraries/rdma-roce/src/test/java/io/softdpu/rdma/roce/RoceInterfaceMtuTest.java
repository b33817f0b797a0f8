package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections at an interface whose MTU changes, in a network namespace of their own. */
@StartsProcesses
class RoceInterfaceMtuTest {
    private static final String[] NAMESPACE = {
        "unshare", "-rn", "sh", "-c", "ip link set dev lo up mtu 1500 && exec \"$@\"", "sh"
    };

    @TempDir Path folder;
    private Processes processes;

    @BeforeEach
    void requireNamespaces(Processes processes) {
        this.processes = processes;
        String[] command = Arrays.copyOf(NAMESPACE, NAMESPACE.length + 1);
        command[NAMESPACE.length] = "true";
        ChildProcess trial = processes.start(new ProcessBuilder(command));
        assumeThat(trial.awaitExit())
                .as("a network namespace is permitted: %s", trial.errorLines())
                .isZero();
    }

    private ChildProcess probe(String what) {
        ChildProcess probe =
                processes.start(
                        JavaCommand.ofClass(RoceInterfaceMtuProbe.class)
                                .withArguments(what, folder.toString())
                                .withEnvironment("SOFTDPU_RDMA_PATH_MTU", "4096")
                                .behind(NAMESPACE));
        assertThat(probe.awaitExit()).as("%s", probe.errorLines()).isZero();
        return probe;
    }

    @Test
    void shouldRefuseAPathMtuOfAPeerThatTheInterfaceDoesNotTake() {
        assertThat(probe("parameters").outputLines())
                .containsExactly(
                        "MTU 1500: path MTU of its own 1024",
                        "MTU 1500: 4096 INVALID_VALUE pathMtuBytes=4096, limit=1024,"
                                + " ofInstance=4096, interface=lo, mtuBytes=1500",
                        "MTU 1500: 2048 INVALID_VALUE pathMtuBytes=2048, limit=1024,"
                                + " ofInstance=4096, interface=lo, mtuBytes=1500",
                        "MTU 1500: EXPORTED",
                        "MTU 9000: 4096 CONNECTED, CONNECTED, sent=SUCCESS, received=SUCCESS",
                        "MTU 320: 256 NOT_SUPPORTED");
    }

    /** A peer that is none of softdpu: no answer lowers the path MTU that it asks for. */
    @Test
    void shouldTakeRequestsByTheMtuThatTheInterfaceHasWhenTheyCome() {
        assertThat(probe("listener").outputLines())
                .containsExactly(
                        "MTU 1500: 4096 reason=26, requests=0",
                        "MTU 1500: 1024 requests=1",
                        "MTU 9000: 4096 requests=2",
                        "MTU 1500: 4096 reason=26, requests=2",
                        "MTU 320: NOT_SUPPORTED",
                        "MTU 320: 256 reason=26, requests=2",
                        "MTU 1500: accepted 4096 reason=26, ended=NOT_SUPPORTED");
    }
}
