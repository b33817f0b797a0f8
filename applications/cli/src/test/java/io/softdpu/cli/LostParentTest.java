package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.ProcessView;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** SIGKILL of a command with child processes, at steps from their start to their load. */
@StartsProcesses
class LostParentTest {
    private static final String DEMO = "demo --seconds 3600 --size 1MiB";

    private static final String TARGET =
            "storage target -d t0 --cpu any --listen-port 0 --volume memory:1MiB";

    @TempDir Path temporary;

    private Processes processes;

    @BeforeEach
    void setUp(Processes started) {
        processes = started;
    }

    private ChildProcess start(String command) {
        return processes.start(
                Pipeline.command(command.split(" "))
                        .withJvmOptions("-Djava.io.tmpdir=" + temporary));
    }

    private static ProcessHandle handle(ChildProcess process) {
        return ProcessHandle.of(process.pid()).orElseThrow();
    }

    /** One that is not Java yet is a helper of the JDK, which ends without a trace. */
    private static List<ProcessHandle> awaitChildren(ChildProcess parent, int count) {
        List<ProcessHandle> children = new ArrayList<>();
        Await.until(
                "started",
                () -> {
                    children.clear();
                    children.addAll(javaChildren(parent));
                    return children.size() >= count;
                });
        return children;
    }

    /** Before it is a helper, a child is a copy of its parent for a moment. */
    private static List<ProcessHandle> javaChildren(ChildProcess parent) {
        String ofParent = commandLine(parent.pid());
        return handle(parent)
                .children()
                .filter(child -> child.info().command().orElse("").endsWith("/java"))
                .filter(child -> !Set.of("", ofParent).contains(commandLine(child.pid())))
                .toList();
    }

    private static String commandLine(long pid) {
        return ProcessView.text(Path.of("/proc/" + pid + "/cmdline"));
    }

    private static List<Path> list(Path folder) {
        try (Stream<Path> all = Files.list(folder)) {
            return all.toList();
        } catch (IOException e) {
            return List.of(); // removed meanwhile
        }
    }

    private List<Path> folders() {
        return list(temporary).stream()
                .filter(path -> path.getFileName().toString().startsWith("softdpu-"))
                .toList();
    }

    /** Waits until processes have opened their machines in the folder of the parent. */
    private void awaitSockets(int count) {
        Await.until(
                "machines are open",
                () ->
                        folders().stream()
                                        .flatMap(root -> list(root.resolve("fabric")).stream())
                                        .filter(file -> file.toString().endsWith(".sock"))
                                        .count()
                                >= count);
    }

    private void signal(ProcessHandle process, String name) {
        ProcessBuilder kill =
                new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + process.pid());
        assertThat(processes.start(kill).awaitExit()).isZero();
    }

    private void assertGone(List<ProcessHandle> children) {
        try {
            Await.until(
                    "children have ended",
                    () -> children.stream().noneMatch(ProcessHandle::isAlive));
            Await.until("the last one has removed the folder", () -> folders().isEmpty());
        } finally {
            // No other process would end a process that has lost its parent and has not noticed.
            children.forEach(ProcessHandle::destroyForcibly);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "3, " + DEMO,
        "1, perf comch idle --clients 4 --wait event --seconds 3600",
        "1, perf rdma rate --op send --seconds 3600",
        "1, perf sync-event latency --wait event --seconds 3600"
    })
    void shouldEndChildrenUnderLoadWithTheirParent(int count, String command) {
        ChildProcess parent = start(command);
        List<ProcessHandle> children = awaitChildren(parent, count);
        awaitSockets(2);

        parent.signal("KILL"); // and not its children with it

        assertGone(children);
    }

    @ParameterizedTest
    @ValueSource(strings = {DEMO, "perf comch rate --seconds 3600"})
    void shouldEndAChildWithItsParentAsSoonAsItIsStarted(String command) {
        for (int round = 0; round < Soak.count(1, 1, 20); round++) {
            ChildProcess parent = start(command);
            List<ProcessHandle> children = awaitChildren(parent, 1);
            Await.holdsWithin(Duration.ofMillis(150L * round), () -> !parent.isAlive());

            parent.signal("KILL");

            assertGone(children);
        }
    }

    /** It watches nothing yet, and finds no parent when it continues. */
    @ParameterizedTest
    @ValueSource(strings = {DEMO, "perf rdma latency --op write --seconds 3600"})
    void shouldEndAChildThatIsStoppedWhenItsParentIsKilled(String command) {
        ChildProcess parent = start(command);
        List<ProcessHandle> children = awaitChildren(parent, 1);
        signal(children.getFirst(), "STOP");

        parent.signal("KILL");
        Await.until("killed", () -> !parent.isAlive());
        signal(children.getFirst(), "CONT");

        assertGone(children);
    }

    @Test
    void shouldRemoveWhatARunThatWasKilledWithItsChildrenHasLeftAndNothingOfALivingOne() {
        ChildProcess living = start("perf comch rate --wait event --seconds 3600");
        awaitSockets(2);
        List<Path> ofLiving = folders();
        ChildProcess killed = start("perf comch rate --wait event --seconds 3600");
        List<ProcessHandle> all =
                Stream.concat(awaitChildren(killed, 1).stream(), Stream.of(handle(killed)))
                        .toList();
        awaitSockets(4);
        // Stopped first, so that the child does not remove the folder.
        all.forEach(process -> signal(process, "STOP"));
        all.forEach(ProcessHandle::destroyForcibly);
        Await.until("killed", () -> all.stream().noneMatch(ProcessHandle::isAlive));
        assertThat(folders()).hasSize(2);

        assertThat(start("perf comch latency --seconds 0.05").awaitExit()).isZero();

        assertThat(folders()).isEqualTo(ofLiving);
        assertThat(handle(living).children().toList()).as("its child lives").hasSize(1);
    }

    /** A JVM that a signal ends while it initializes itself may exit with 1, and says so. */
    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT"})
    void shouldEndWithTheStatusOfTheSignalWhileItStarts(String signal) {
        int expected = (signal.equals("INT") ? ExitCode.INTERRUPTED : ExitCode.TERMINATED).code();
        int rounds = Soak.count(2, 4, 100);
        for (int round = 0; round < rounds; round++) {
            ChildProcess target =
                    processes.start(
                            Pipeline.command(TARGET.split(" "))
                                    .withEnvironment("SOFTDPU_FABRIC", temporary + "/fabric"));
            Await.holdsWithin(Duration.ofMillis(800L * round / rounds), () -> !target.isAlive());

            target.signal(signal);

            int exit = target.awaitExit();
            boolean initialized =
                    Stream.concat(target.outputLines().stream(), target.errorLines().stream())
                            .noneMatch(line ->
                                    line.startsWith("Error occurred during initialization of "));
            assertThat(exit)
                    .as("round %d: %s %s", round, target.outputLines(), target.errorLines())
                    .isEqualTo(initialized ? expected : 1);
            assertThat(target.errorLines())
                    .filteredOn(line -> line.startsWith("softdpu: "))
                    .allMatch(line -> line.contains("User requested abort"));
        }
    }
}
