package io.softdpu.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.TestExecutionResult;

/** JVMs of tests that are killed, as by a time limit of CI, and children that print too much. */
@StartsProcesses
class LostParentTest {
    @TempDir Path temporary;

    private Processes processes;

    @BeforeEach
    void setUp(Processes started) {
        processes = started;
    }

    /** A JVM that runs one example as a test, and prints its result. */
    static final class TestJvm {
        private TestJvm() {}

        public static void main(String[] arguments) {
            TestExecutionResult result = Run.of(Examples.class, arguments[0]);
            result.getThrowable().ifPresent(Throwable::printStackTrace);
            System.out.println("result " + result.getStatus());
            System.exit(0);
        }
    }

    private ChildProcess run(String example) {
        return processes.start(
                JavaCommand.ofClass(TestJvm.class)
                        .withArguments(example)
                        .withJvmOptions("-Djava.io.tmpdir=" + temporary, "-Xmx64m"));
    }

    private List<Path> folders() {
        try (Stream<Path> all = Files.list(temporary)) {
            return all.filter(path -> path.getFileName().toString().startsWith("softdpu-junit-"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ProcessHandle handle(ChildProcess process) {
        return ProcessHandle.of(process.pid()).orElseThrow();
    }

    private static void assertGone(List<ProcessHandle> children) {
        try {
            Await.until(
                    "children have ended",
                    () -> children.stream().noneMatch(ProcessHandle::isAlive));
        } finally {
            children.forEach(ProcessHandle::destroyForcibly);
        }
    }

    /** A run that is not killed, in the same folder for temporary files. */
    private void assertNextRunLeavesNothing() {
        ChildProcess next = run("endsWell");
        assertThat(next.awaitExit()).isZero();
        assertThat(next.outputLines()).as("%s", next.errorLines()).contains("result SUCCESSFUL");
        assertThat(folders()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "hasAChildThatComputes",
                "hasTwoChildren",
                "hasAMainClass",
                "hasAChildWithAChild",
                "hasAChildThatPrintsWithoutEnd"
            })
    void shouldEndChildrenWithTheJvmOfTheTestThatIsKilled(String example) {
        ChildProcess test = run(example);
        test.awaitLine("^ready$");
        List<ProcessHandle> children = handle(test).descendants().toList();
        assertThat(children).isNotEmpty();
        assertThat(folders()).hasSize(1);

        test.signal("KILL"); // and not its children with it

        assertGone(children);
        Await.until("the last one has removed the folder", () -> folders().isEmpty());
    }

    /** While the child's JVM starts, it does not watch yet. */
    @Test
    void shouldEndAChildThatFindsItsParentGoneWhenItStarts() {
        ChildProcess test = run("waitsForever");
        Await.until("started", () -> handle(test).children().findAny().isPresent());
        List<ProcessHandle> children = handle(test).children().toList();
        signal(children.getFirst(), "STOP");

        test.signal("KILL");
        Await.until("killed", () -> !test.isAlive());
        signal(children.getFirst(), "CONT");

        assertGone(children);
        assertNextRunLeavesNothing();
    }

    private void signal(ProcessHandle process, String name) {
        ProcessBuilder kill =
                new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + process.pid());
        assertThat(processes.start(kill).awaitExit()).isZero();
    }

    @Test
    void shouldRemoveTheFolderOfARunThatWasKilledWithItsChildrenAndNotThatOfALivingOne() {
        ChildProcess living = run("waitsForever");
        living.awaitLine("^ready$");
        List<Path> ofLiving = folders();
        ChildProcess killed = run("waitsForever");
        killed.awaitLine("^ready$");
        assertThat(folders()).hasSize(2);
        ProcessHandle parent = handle(killed);
        List<ProcessHandle> all = Stream.concat(parent.children(), Stream.of(parent)).toList();
        // Stopped first, so that no child removes the folder.
        all.forEach(process -> signal(process, "STOP"));
        all.forEach(ProcessHandle::destroyForcibly);
        assertGone(all);
        assertThat(folders()).hasSize(2);

        ChildProcess next = run("endsWell");

        assertThat(next.awaitExit()).isZero();
        assertThat(folders()).isEqualTo(ofLiving);
        assertThat(handle(living).children().toList()).as("its child lives").isNotEmpty();
    }

    /** 64 MiB of heap, and 96 MiB that a child prints: as one line, and as many. */
    @ParameterizedTest
    @ValueSource(strings = {"readsManyLines", "readsOneLongLine"})
    void shouldKeepTheHeapOfTheTestWhileAChildPrints(String example) {
        ChildProcess test = run(example);

        assertThat(test.awaitExit()).as("%s", test.errorLines()).isZero();

        assertThat(test.outputLines()).as("%s", test.errorLines()).contains("result SUCCESSFUL");
    }

    @Test
    void shouldRunEveryFormOfAMainMethod() {
        ChildProcess test = run("runsMainMethods");

        assertThat(test.awaitExit()).isZero();

        assertThat(test.outputLines()).as("%s", test.errorLines()).contains("result SUCCESSFUL");
    }

    /** Tests that other JVMs run. */
    static class Examples {
        private static final int PRINTED_BYTES = 96 << 20;

        @RegisterExtension static final SoftDpuExtension CARD = SoftDpuExtension.builder().build();

        private static void waitForever() throws InterruptedException {
            new CountDownLatch(1).await();
        }

        private static void awaitSignal(ChildJvm... children) throws InterruptedException {
            for (ChildJvm child : children) {
                child.awaitLine("^here$", Patience.LIMIT);
            }
            System.out.println("ready");
            waitForever();
        }

        /** Does not read its standard input, whose end would tell it. */
        private static void serve(SoftDpu card) throws InterruptedException {
            card.dpuDevice();
            System.out.println("here");
            waitForever();
        }

        @Test
        void endsWell(SoftDpu card) {
            card.hostDevice();
        }

        @Test
        void waitsForever(SoftDpu card) throws InterruptedException {
            awaitSignal(card.start(Examples::serve));
        }

        @Test
        void hasTwoChildren(SoftDpu card) throws InterruptedException {
            awaitSignal(card.start(Examples::serve), card.start(Examples::serve));
        }

        @Test
        void hasAChildThatComputes(SoftDpu card) throws InterruptedException {
            awaitSignal(
                    card.start(_ -> {
                        System.out.println("here");
                        while (!Thread.interrupted()) {
                            Thread.onSpinWait();
                        }
                    }));
        }

        @Test
        void hasAChildThatPrintsWithoutEnd(SoftDpu card) throws InterruptedException {
            awaitSignal(
                    card.start(_ -> {
                        System.out.println("here");
                        while (!Thread.interrupted()) {
                            System.out.println("and more");
                        }
                    }));
        }

        @Test
        void hasAChildWithAChild(SoftDpu card) throws InterruptedException {
            awaitSignal(
                    card.start(_ -> {
                        new ProcessBuilder("sleep", "1000").start();
                        System.out.println("here");
                        waitForever();
                    }));
        }

        @Test
        void hasAMainClass(SoftDpu card) throws InterruptedException {
            awaitSignal(card.startMain(Server.class, "HOST"));
        }

        static final class Server {
            private Server() {}

            public static void main(String[] arguments) throws InterruptedException {
                try (Machine machine = Machine.open(Side.valueOf(arguments[0]))) {
                    System.out.println("here");
                    waitForever();
                }
            }
        }

        private static void print(String unit) {
            String piece = unit.repeat((1 << 20) / unit.length());
            for (int i = 0; i < PRINTED_BYTES; i += piece.length()) {
                System.out.print(piece);
            }
            System.out.println("\nprinted");
        }

        @Test
        void readsManyLines(SoftDpu card) {
            ChildJvm child = card.start(_ -> print("a line of a child ".repeat(10) + "\n"));
            child.awaitLine("^printed$", Patience.LIMIT);
            assertThat(child.awaitExit(Patience.LIMIT)).isZero();
            assertThat(child.outputLines()).hasSize(Output.MAX_LINES).endsWith("printed");
        }

        @Test
        void readsOneLongLine(SoftDpu card) {
            ChildJvm child = card.start(_ -> print("x"));
            child.awaitLine("^printed$", Patience.LIMIT);
            assertThat(child.awaitExit(Patience.LIMIT)).isZero();
            assertThat(child.outputLines()).hasSize(2).first().asString().endsWith(" more)");
        }

        @Test
        void runsMainMethods(SoftDpu card) {
            ChildJvm object = card.startMain(OfAnObject.class);
            ChildJvm inherited = card.startMain(Inheriting.class, "a", "b");
            ChildJvm failing = card.startMain(Failing.class);
            ChildJvm none = card.startMain(Output.class);

            assertThat(object.awaitExit(Patience.LIMIT)).as("%s", object.errorLines()).isZero();
            assertThat(object.outputLines()).containsExactly("no arguments");
            assertThat(inherited.awaitExit(Patience.LIMIT)).isZero();
            assertThat(inherited.outputLines()).containsExactly("2 arguments");
            assertThat(failing.awaitExit(Patience.LIMIT)).isOne();
            assertThat(failing.errorLines())
                    .first()
                    .asString()
                    .contains("IllegalStateException: of the program");
            assertThat(none.awaitExit(Patience.LIMIT)).isOne();
            assertThat(none.errorLines())
                    .anyMatch(line -> line.contains("class has no main method: class="));
        }

        static class OfAnObject {
            void main() {
                System.out.println("no arguments");
            }
        }

        static class Base {
            public static void main(String[] arguments) {
                System.out.println(arguments.length + " arguments");
            }
        }

        static final class Inheriting extends Base {}

        static final class Failing {
            private Failing() {}

            public static void main(String[] arguments) {
                throw new IllegalStateException("of the program");
            }
        }
    }
}
