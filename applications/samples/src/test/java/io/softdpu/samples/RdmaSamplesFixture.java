package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.OwnFabric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * RDMA samples that run on threads of this JVM, each side with a folder of its own. The test is the
 * user who copies the descriptors.
 */
@ExtendWith(OwnFabric.class)
abstract class RdmaSamplesFixture {
    static final String SUBMITTED = "submitted: remainingTasks=1";
    static final String VALUE = "immediate=0x12345678";
    static final String SIGNAL = "value=0xd0ca";
    static final String ANSWER = "value=0xd0cb";
    static final String COMPLETION = "value=0xffffffffffffffff";

    @TempDir Path folder;
    @AutoClose final SampleThreads threads = new SampleThreads();

    Program start(String name, String... options) {
        return startPausing(null, name, options);
    }

    Program startPausing(@Nullable String pauseAfter, String name, String... options) {
        return start(pauseAfter, SampleProgram.find(name), options);
    }

    /** Starts a sample that a test has changed. */
    Program start(RdmaSample sample, String... options) {
        return start(null, sample, options);
    }

    private Program start(@Nullable String pauseAfter, Sample sample, String... options) {
        String name = sample.name();
        Path own = ownFolder(name);
        return new Program(
                name, own, threads.start(pauseAfter, sample, arguments(name, own, options)));
    }

    Path ownFolder(String name) {
        try {
            return Files.createDirectories(folder.resolve(name));
        } catch (IOException e) {
            throw new AssertionError("folder was not created", e);
        }
    }

    static String[] arguments(String name, Path own, String... options) {
        List<String> all = new ArrayList<>(List.of(name));
        all.addAll(List.of(options));
        if (!all.contains("use-rdma-cm=")) {
            all.add("local-descriptor-path=" + own.resolve("local"));
            all.add("remote-descriptor-path=" + own.resolve("remote"));
        }
        if (takesMmap(name)) {
            all.add("mmap-descriptor-path=" + own.resolve("memory"));
        }
        return all.toArray(String[]::new);
    }

    static boolean takesMmap(String name) {
        return SampleProgram.find(name).options().stream()
                .anyMatch(option -> option.shortName() != null && option.shortName().equals("m"));
    }

    /** A sample that runs, and its folder. */
    record Program(String name, Path folder, RunningSample run) {
        /** Copies a descriptor to the peer's folder once it is there, as a user does. */
        void copy(String what, String file, Program to, String as) {
            run.awaitLine("^" + what + " descriptor written");
            try {
                Files.copy(folder.resolve(file), to.folder.resolve(as));
            } catch (IOException e) {
                throw new AssertionError("descriptor was not copied", e);
            }
        }

        void copyConnection(Program to) {
            copy("connection", "local", to, "remote");
        }

        /** The memory, or the event. */
        void copyShared(Program to) {
            copy("(mmap|sync event)", "memory", to, "memory");
        }

        void assertEndsWell() {
            assertThat(run.awaitExit()).as("%s", run.errorLines()).isZero();
        }

        void assertFails(int exitCode, String... parts) {
            assertThat(run.awaitExit()).as("%s", run.errorLines()).isEqualTo(exitCode);
            String errors = String.join("\n", run.errorLines());
            assertThat(parts).allSatisfy(part -> assertThat(errors).contains(part));
        }

        /** Its context has stopped since the loop went on, and not only when it was closed. */
        void assertHasStoppedInItsLoop() {
            assertThat(lines()).endsWith("rdma: RUNNING to STOPPING", "rdma: STOPPING to IDLE");
            assertThat(SampleThreads.linesOfTheEnd(run)).as("lines of the end").isEmpty();
        }

        ChildProcess process() {
            return ((RunningSample.OfProcess) run).process();
        }

        /** What it has printed, without the lines about files. */
        List<String> lines() {
            return run.outputLines().stream().filter(line -> !line.contains("descriptor")).toList();
        }

        /** What it has printed about files. */
        List<String> fileLines() {
            return run.outputLines().stream()
                    .filter(line -> line.contains("descriptor"))
                    .map(line -> line.replaceFirst("file=.*", "file"))
                    .toList();
        }
    }

    /** Two programs, the responder or receiver first. */
    record Pair(Program first, Program second) {
        void copyAll() {
            first.copyConnection(second);
            second.copyConnection(first);
            if (takesMmap(second.name)) {
                first.copyShared(second);
            }
        }

        void assertEndWell() {
            second.assertEndsWell();
            first.assertEndsWell();
        }

        /** Ends well, the last value with it. */
        void assertTransfers() {
            second.assertEndsWell();
            if (first.name.equals("rdma-write-responder")) {
                first.run.enter();
            }
            first.assertEndsWell();
            List<String> all = new ArrayList<>(first.lines());
            all.addAll(second.lines());
            String last =
                    first.name.equals("rdma-sync-event-responder")
                            ? "completed by the peer: " + COMPLETION
                            : "Hi DOCA RDMA!";
            assertThat(all).anyMatch(line -> line.endsWith(last));
        }

        /** For another run in the same folders. */
        void deleteCopies() {
            for (Program each : List.of(first, second)) {
                for (String name : List.of("remote", "memory")) {
                    try {
                        Files.deleteIfExists(each.folder.resolve(name));
                    } catch (IOException e) {
                        throw new AssertionError("copy was not removed", e);
                    }
                }
            }
        }
    }

    Pair startPair(String first, String second) {
        return new Pair(start(first), start(second));
    }

    Pair run(String first, String second) {
        Pair pair = startPair(first, second);
        pair.copyAll();
        pair.assertEndWell();
        return pair;
    }

    /** The states of a good run, and what is printed while it runs. */
    static List<String> statesAround(String... running) {
        List<String> all = new ArrayList<>();
        all.add("rdma: IDLE to STARTING");
        all.add("rdma: STARTING to RUNNING");
        all.addAll(List.of(running));
        all.add("rdma: RUNNING to STOPPING");
        all.add("rdma: STOPPING to IDLE");
        return all;
    }
}
