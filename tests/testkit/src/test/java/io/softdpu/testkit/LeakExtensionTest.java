package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.discovery.DiscoverySelectors;

class LeakExtensionTest {

    /** What the examples left; this test must leave nothing itself. */
    private static final Deque<AutoCloseable> LEFT = new ArrayDeque<>();

    @AfterEach
    void endWhatTheExamplesLeft() throws Exception {
        while (!LEFT.isEmpty()) {
            LEFT.pop().close();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "descriptor (socket:[",
                "mapping (to 0x",
                "thread (left-alone), now at",
                "process ("
            })
    @StartsProcesses
    void shouldFailATestThatLeavesAThingAndSayWhich(String thing) {
        String kind = thing.substring(0, thing.indexOf(' '));
        String detail = thing.substring(thing.indexOf(' '));

        Throwable failure = failureOf(Leaky.class, kind);

        assertThat(failure).hasMessageStartingWith("left behind:\n  " + kind + " ");
        assertThat(failure).hasMessageContaining(detail);
        assertThat(failure.getMessage().lines().filter(line -> line.matches("  [a-z].*")))
                .hasSize(1);
    }

    @Test
    void shouldSayWhichFileWasLeft() {
        assertThat(failureOf(Leaky.class, "file"))
                .hasMessageContaining(
                        "file " + TestFolders.temporary().resolve("left-alone") + ", not made");
    }

    @Test
    void shouldShowWhereAThreadIsThatNobodyRecorded() {
        assertThat(failureOf(Leaky.class, "thread"))
                .hasMessageContaining(Leaky.class.getName() + ".waitFor(");
    }

    @Test
    void shouldReportAThingOnceOnly() {
        Launching launching = Launching.run(DiscoverySelectors.selectClass(LeavesOne.class));

        assertThat(launching.results())
                .extracting(TestExecutionResult::getStatus)
                .containsExactlyInAnyOrder(Status.FAILED, Status.SUCCESSFUL);
        assertThat(launching.containerResults())
                .extracting(TestExecutionResult::getStatus)
                .containsOnly(Status.SUCCESSFUL);
    }

    @Test
    @StartsProcesses
    void shouldPassWhatCleansUpAfterItself() {
        Launching launching = Launching.run(DiscoverySelectors.selectClass(Clean.class));

        assertThat(launching.results())
                .hasSize(5)
                .allSatisfy(result ->
                        assertThat(result.getThrowable().map(Throwable::toString)).isEmpty());
        assertThat(launching.containerResults())
                .extracting(TestExecutionResult::getStatus)
                .containsOnly(Status.SUCCESSFUL);
    }

    @Test
    void shouldFailAClassThatLeavesWhatItMadeForAllItsTests() {
        Launching launching = Launching.run(DiscoverySelectors.selectClass(LeakyClass.class));

        assertThat(launching.onlyResult().getStatus()).isEqualTo(Status.SUCCESSFUL);
        assertThat(launching.containerResults())
                .filteredOn(result -> result.getStatus() == Status.FAILED)
                .singleElement()
                .satisfies(result ->
                        assertThat(result.getThrowable().orElseThrow())
                                .hasMessageContaining("thread ")
                                .hasMessageContaining("(left-alone)"));
    }

    @Test
    void shouldKeepTheFailureOfATestThatAlsoLeavesSomething() {
        Throwable failure = failureOf(Leaky.class, "failsAndLeavesAThread");

        assertThat(failure).hasMessage("on purpose");
        assertThat(failure.getSuppressed())
                .anySatisfy(more -> assertThat(more).hasMessageStartingWith("left behind:"));
    }

    private static Throwable failureOf(Class<?> type, String method) {
        TestExecutionResult result =
                Launching.run(DiscoverySelectors.selectMethod(type, method)).onlyResult();
        assertThat(result.getStatus()).isEqualTo(Status.FAILED);
        return result.getThrowable().orElseThrow();
    }

    static class Leaky {

        @TempDir Path folder;

        @Test
        void descriptor() throws IOException {
            LEFT.push(ServerSocketChannel.open());
        }

        @Test
        void mapping() throws IOException {
            Arena arena = Arena.ofShared();
            LEFT.push(arena::close);
            try (FileChannel channel =
                    FileChannel.open(
                            folder.resolve("mapped"),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE)) {
                channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096, arena);
            }
        }

        @Test
        void thread() {
            startThread();
        }

        @Test
        @StartsProcesses
        void process() throws IOException {
            // Its standard streams are not ours, so that it leaves no descriptor.
            Process process = new ProcessBuilder("sleep", "600").inheritIO().start();
            LEFT.push(() -> process.destroyForcibly().waitFor());
            // By this thread a child is noticed; the JDK names it when it gets to run.
            String reaper = "process reaper (pid " + process.pid();
            Await.until(
                    reaper,
                    () ->
                            Thread.getAllStackTraces().keySet().stream()
                                    .anyMatch(thread -> thread.getName().startsWith(reaper)));
        }

        @Test
        void file() throws IOException {
            Path file = Path.of(System.getProperty("java.io.tmpdir"), "left-alone");
            LEFT.push(() -> Files.delete(file));
            Files.createFile(file);
        }

        @Test
        void failsAndLeavesAThread() {
            startThread();
            throw new AssertionError("on purpose");
        }

        static void startThread() {
            CountDownLatch end = new CountDownLatch(1);
            Thread thread = new Thread(() -> waitFor(end), "left-alone");
            thread.start();
            LEFT.push(() -> {
                end.countDown();
                thread.join();
            });
        }

        private static void waitFor(CountDownLatch end) {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    static class LeavesOne {

        private static boolean left;

        @ParameterizedTest
        @ValueSource(ints = {1, 2})
        void leavesAThreadOnce(int time) {
            if (!left) {
                left = true;
                Leaky.startThread();
            }
        }
    }

    static class LeakyClass {

        @BeforeAll
        static void startThread() {
            Leaky.startThread();
        }

        @Test
        void leavesNothing() {}
    }

    static class Clean {

        private static ServerSocketChannel ofAll;

        private ServerSocketChannel ofEach;

        @BeforeAll
        static void open() throws IOException {
            ofAll = ServerSocketChannel.open();
        }

        @AfterAll
        static void close() throws IOException {
            ofAll.close();
        }

        @AfterEach
        void closeOfEach() throws IOException {
            ofEach.close();
        }

        @ParameterizedTest
        @ValueSource(ints = {1, 2, 3})
        void leavesAFileInItsFolder(int number, @TempDir Path folder) throws IOException {
            ofEach = ServerSocketChannel.open();
            Files.createFile(folder.resolve("file-" + number));
        }

        @Test
        @StartsProcesses
        void leavesAProcessToTheParameter(Processes processes) throws IOException {
            ofEach = ServerSocketChannel.open();
            processes.start(new ProcessBuilder("sleep", "600"));
        }

        @Test
        void leavesAThreadThatEndsByItself() throws IOException {
            ofEach = ServerSocketChannel.open();
            List.of(1).parallelStream().forEach(i -> new Thread(() -> {}).start());
        }
    }
}
