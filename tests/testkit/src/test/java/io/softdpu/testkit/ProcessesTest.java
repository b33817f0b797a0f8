package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@StartsProcesses
class ProcessesTest {

    /** Repeats its input on standard output; "stop" on standard error, and ends with status 3. */
    static final class Echo {
        public static void main(String[] args) throws IOException {
            System.out.println("ready " + String.join("+", args));
            var lines = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                System.out.println("echo " + line + " " + System.getenv("ECHO_MARK"));
            }
            System.err.println("stop");
            System.exit(3);
        }
    }

    @Smoke
    @Test
    void shouldCaptureOutputAndStatusOfAJvm(Processes processes) throws IOException {
        ChildProcess echo =
                processes.start(
                        JavaCommand.ofClass(Echo.class)
                                .withArguments("a", "b")
                                .withEnvironment("ECHO_MARK", "marked"));

        assertThat(echo.awaitLine("^ready")).isEqualTo("ready a+b");
        echo.standardInput().write("hello\n".getBytes());
        echo.standardInput().flush();
        assertThat(echo.awaitLine("hello")).isEqualTo("echo hello marked");
        echo.standardInput().close();

        assertThat(echo.awaitExitWhileItPrints()).isEqualTo(3);
        assertThat(echo.errorLines()).containsExactly("stop");
        assertThat(echo.outputLines()).hasSize(2);
    }

    @Test
    void shouldCountAChildFromItsStartOn(Processes processes) {
        for (int i = 0; i < 100; i++) {
            ResourceSnapshot before = ResourceSnapshot.now();
            ChildProcess child = processes.start(new ProcessBuilder("cat"));

            assertThat(ResourceSnapshot.now().since(before))
                    .extracting(ResourceSnapshot.Thing::id)
                    .contains("process " + child.pid());
            child.close();
        }
    }

    @Test
    void shouldSayWhatWasPrintedWhenALineDoesNotCome(Processes processes) {
        ChildProcess echo = processes.start(JavaCommand.ofClass(Echo.class));
        echo.awaitLine("ready");

        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> echo.awaitLine("never", Duration.ofMillis(20)))
                .withMessageContaining("regex=never")
                .withMessageContaining("ready");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> echo.awaitExit(Duration.ofMillis(20)))
                .withMessageContaining("did not end");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> echo.awaitExitWhileItPrints(Duration.ofMillis(20)))
                .withMessageContaining("neither prints nor ends")
                .withMessageContaining("ready");
    }

    /** As JUnit interrupts a test at its time limit. */
    @Test
    void shouldSayWhatWasPrintedWhenTheWaitIsInterrupted(Processes processes) {
        ChildProcess echo = processes.start(JavaCommand.ofClass(Echo.class));
        echo.awaitLine("ready");

        Thread.currentThread().interrupt();
        try {
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(() -> echo.awaitLine("never"))
                    .withMessageContaining("interrupted while waiting for a line: regex=never")
                    .withMessageContaining("ready");
        } finally {
            assertThat(Thread.interrupted()).as("still interrupted").isTrue();
        }
    }

    @Test
    void shouldNotWaitForALineOfAProcessThatHasEnded(Processes processes) throws IOException {
        ChildProcess echo = processes.start(JavaCommand.ofClass(Echo.class));
        echo.standardInput().close();

        assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> echo.awaitLine("never"));
    }

    @Test
    void shouldReadAllThatAKilledProcessHasPrinted(Processes processes, @TempDir Path folder) {
        Path printed = folder.resolve("printed");
        ChildProcess child =
                processes.start(
                        new ProcessBuilder(
                                "sh", "-c", "seq 10000; : >\"$0\"; cat", printed.toString()));
        Await.until("all lines printed", () -> Files.exists(printed));

        child.kill();
        child.awaitExit();
        assertThat(child.outputLines()).hasSize(10_000);
    }

    @Smoke
    @Test
    void shouldFreezeThawAndKill(Processes processes) throws IOException {
        ChildProcess echo = processes.start(JavaCommand.ofClass(Echo.class));
        echo.awaitLine("ready");

        echo.freeze();
        assertThat(echo.isAlive()).isTrue();
        echo.standardInput().write("hello\n".getBytes());
        echo.standardInput().flush();
        assertThat(echo.view().threadStates()).isNotEmpty().containsOnly('T');
        assertThat(echo.outputLines()).hasSize(1);

        echo.thaw();
        echo.awaitLine("hello");

        echo.kill();
        assertThat(echo.awaitExit()).isEqualTo(128 + 9);
    }

    @Test
    void shouldEndAFrozenProcessAndItsChildrenOnClose() {
        ChildProcess shell;
        ChildProcess frozen;
        long grandchild;
        try (Processes processes = new Processes()) {
            frozen = processes.start(JavaCommand.ofClass(Echo.class));
            frozen.awaitLine("ready");
            frozen.freeze();
            shell = processes.start(new ProcessBuilder("sh", "-c", "sleep 1000 & echo $!; wait"));
            grandchild = Long.parseLong(shell.awaitLine("[0-9]+"));
            assertThat(ProcessHandle.of(grandchild)).isPresent();
        }
        assertThat(frozen.isAlive()).isFalse();
        assertThat(shell.isAlive()).isFalse();
        assertThat(ProcessHandle.of(grandchild).filter(ProcessHandle::isAlive)).isEmpty();
    }

    @Test
    void shouldEndByInterruptEvenWhereTheParentIgnoresIt(Processes processes) {
        JavaCommand command = JavaCommand.ofClass(Echo.class).interruptible();
        ProcessBuilder plain = command.toProcessBuilder();
        plain.command().addAll(0, java.util.List.of("sh", "-c", "trap '' INT; exec \"$0\" \"$@\""));
        ChildProcess echo = processes.start(plain);
        echo.awaitLine("ready");

        echo.signal("INT");

        assertThat(echo.awaitExit()).isEqualTo(128 + 2);
    }

    @Test
    void shouldRunAsAnotherUserFromACopyOfTheJars(Processes processes) {
        OtherUser nobody = OtherUser.nobody();
        ChildProcess echo = processes.start(JavaCommand.ofClass(Echo.class).as(nobody));
        echo.awaitLine("ready");

        assertThat(Path.of("/proc/" + echo.pid()))
                .satisfies(proc ->
                        assertThat(Files.getAttribute(proc, "unix:uid")).isEqualTo(nobody.uid()));
    }

    @Test
    void shouldGiveAFileToAnotherUser(@TempDir Path folder) throws IOException {
        OtherUser nobody = OtherUser.nobody();
        Path file = Files.createFile(folder.resolve("theirs"));

        nobody.own(file);

        assertThat(Files.readAttributes(file, "unix:uid,gid"))
                .isEqualTo(Map.of("uid", nobody.uid(), "gid", nobody.uid()));
    }
}
