package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SIGKILL of each of the processes at random points under load, repeatedly. */
@StartsProcesses
class KilledProcessesTest {
    private static final int ROUNDS_PER_NEIGHBOUR = 50;
    private static final int LATEST_KILL_MILLIS = 250;

    /** The process that is killed. */
    private enum Victim {
        TARGET,
        ZERO_COPY,
        INITIATOR,
        PARENT_OF_THE_DEMO
    }

    /** The name of the channel between service and initiator. */
    private static final String CHANNEL = "doca_storage_comch";

    @TempDir Path fabric;
    @TempDir Path temporary;

    private final Map<Victim, Integer> rounds = new EnumMap<>(Victim.class);
    private final Map<String, Integer> errors = new TreeMap<>();
    private Pipeline pipeline;
    private Processes processes;

    @Test
    @Tag(Soak.TAG)
    void shouldEndByThemselvesNameWhoWentAwayAndLeaveNothing(
            Processes started, SeededRandom random) {
        processes = started;
        pipeline = new Pipeline(started, fabric);
        long begin = System.nanoTime();
        int total = Soak.count(4, 4, 200);
        Neighbour neighbour = null;
        int survived = 0;
        for (int round = 0; round < total; round++) {
            if (neighbour == null) {
                neighbour = new Neighbour();
            }
            Victim victim = Victim.values()[round % Victim.values().length];
            killUnderLoad(victim, random);
            neighbour.assertAsBefore(victim);
            rounds.merge(victim, 1, Integer::sum);
            survived++;
            if (survived == ROUNDS_PER_NEIGHBOUR || round == total - 1) {
                neighbour.assertServes();
                neighbour = null;
                survived = 0;
            }
        }
        Soak.report(
                "killed-processes",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                text("rounds", rounds) + ", " + text("errors", errors));
    }

    private void killUnderLoad(Victim victim, SeededRandom random) {
        Duration delay = Duration.ofMillis(random.nextInt(LATEST_KILL_MILLIS));
        if (victim == Victim.PARENT_OF_THE_DEMO) {
            killParent(delay);
            return;
        }
        ChildProcess target = pipeline.patternTarget();
        ChildProcess service = pipeline.service(target);
        ChildProcess initiator =
                pipeline.initiatorUnderLoad(
                        random.nextInt(2) == 0 ? "read_throughput_test" : "write_throughput_test");
        Map<Victim, ChildProcess> all =
                new EnumMap<>(
                        Map.of(
                                Victim.TARGET, target,
                                Victim.ZERO_COPY, service,
                                Victim.INITIATOR, initiator));
        assertThat(Await.holdsWithin(delay, () -> !initiator.isAlive()))
                .as("the load ends by itself")
                .isFalse();
        ProcessResources resources = ProcessResources.ofAll(List.copyOf(all.values()));
        assertThat(resources.sockets()).as("sockets in use").isGreaterThan(6);
        assertThat(resources.memories()).as("memories in use").isGreaterThan(6);

        Pipeline.assertKilled(all.remove(victim));

        String tcp = "tcp://127.0.0.1:";
        all.forEach((survivor, process) ->
                assertNames(
                        survivor,
                        process,
                        victim,
                        switch (victim) {
                            case TARGET -> tcp + Pipeline.portOf(target);
                            case INITIATOR -> CHANNEL;
                            default -> survivor == Victim.TARGET ? tcp : CHANNEL;
                        }));
        assertGone(resources);
        assertFabricClean();
    }

    /** Who went away, by its address: seen by the survivor itself, or by the one that told it. */
    private void assertNames(Victim survivor, ChildProcess process, Victim victim, String address) {
        String who = survivor + " of " + victim;
        assertThat(process.awaitExit()).as(who).isEqualTo(ExitCode.FAILED.code());
        List<String> said =
                process.errorLines().stream().filter(line -> line.startsWith("softdpu: ")).toList();
        assertThat(said)
                .as(who)
                .singleElement()
                .asString()
                .startsWith("softdpu: CONNECTION_RESET: ")
                .contains(address);
        errors.merge(said.getFirst().split(":")[1].strip(), 1, Integer::sum);
    }

    private void killParent(Duration delay) {
        ChildProcess demo =
                processes.start(
                        Pipeline.command("demo", "--seconds", "3600", "--size", "1MiB")
                                .withJvmOptions("-Djava.io.tmpdir=" + temporary));
        demo.awaitErrorLine("\\[3/9\\]");
        assertThat(Await.holdsWithin(delay, () -> !demo.isAlive()))
                .as("the demo ends by itself")
                .isFalse();
        ProcessHandle parent = ProcessHandle.of(demo.pid()).orElseThrow();
        List<ProcessHandle> children = parent.children().toList();
        assertThat(children).hasSize(3);
        ProcessResources resources =
                ProcessResources.of(children.stream().map(ProcessHandle::pid).toList());
        assertThat(resources.memories()).as("memories in use").isGreaterThan(6);
        assertThat(demoFolders()).hasSize(1);

        // Not ChildProcess.kill, which would kill the children as well.
        parent.destroyForcibly();

        try {
            assertGone(resources);
            Await.until("folder removed", () -> demoFolders().isEmpty());
        } finally {
            // No other process would end a process that has lost its parent and has not noticed.
            children.forEach(ProcessHandle::destroyForcibly);
        }
        assertThat(demo.awaitExit()).isEqualTo(128 + 9);
    }

    private static void assertGone(ProcessResources resources) {
        Await.until("resources are gone", () -> resources.left().isEmpty());
    }

    /** The next program that joins removes what a killed one could not. */
    private void assertFabricClean() {
        Machine.builder(Side.HOST).fabricFolder(fabric).open().close();
        try (Stream<Path> files = Files.list(fabric)) {
            // The neighbour's: two exporters and a channel, each with its lock.
            assertThat(files.filter(file -> !file.endsWith("topology")))
                    .as("socket and lock files")
                    .hasSize(6);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Path> demoFolders() {
        try (Stream<Path> all = Files.list(temporary)) {
            return all.filter(path -> path.getFileName().toString().startsWith("softdpu-demo-"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(String what, Map<?, Integer> counts) {
        return counts.entrySet().stream()
                .map(entry -> what + "_" + entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(", "));
    }

    /** A target and a service of another name that keep running in the same fabric folder. */
    private final class Neighbour {
        private final ChildProcess target = pipeline.patternTarget();
        private final ChildProcess service =
                pipeline.service(target, "--command-channel-name", "neighbour");
        private final List<String> before = held();

        /** Files of the JVM are left out: classes and lists of services are open for a moment. */
        private List<String> held() {
            return Stream.of(target, service)
                    .map(process ->
                            process.view().descriptors().stream()
                                            .filter(this::isOfTheFabric)
                                            .toList()
                                    + " memfds="
                                    + process.view().mappings().stream()
                                            .filter(mapping -> mapping.isMemfd())
                                            .count()
                                    + " threads="
                                    + process.view().threadNames().stream()
                                            .filter(name -> name.startsWith("softdpu"))
                                            .toList())
                    .toList();
        }

        /** Whether a descriptor is of a file of the fabric, a memfd, or no file at all. */
        private boolean isOfTheFabric(String file) {
            return !file.startsWith("/")
                    || file.startsWith("/memfd:")
                    || file.startsWith(fabric.toString());
        }

        void assertAsBefore(Victim victim) {
            boolean _ = Await.holdsWithin(Patience.DEADLINE, () -> held().equals(before));
            assertThat(held()).as("held by the neighbour after victim=" + victim).isEqualTo(before);
        }

        void assertServes() {
            ChildProcess initiator =
                    pipeline.initiator(
                            "read_write_data_validity_test", "--command-channel-name", "neighbour");
            assertThat(initiator.awaitExit()).isEqualTo(ExitCode.OK.code());
            assertThat(service.awaitExit()).isEqualTo(ExitCode.OK.code());
            assertThat(target.awaitExit()).isEqualTo(ExitCode.OK.code());
        }
    }
}
