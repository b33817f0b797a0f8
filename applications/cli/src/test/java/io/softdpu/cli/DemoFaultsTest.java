package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the demo when it or one of its processes is killed, and when it cannot start. */
@StartsProcesses
class DemoFaultsTest {
    /** The parent of the folders of demos that run in this JVM. */
    private static final Path OWN_TEMPORARY = Path.of(System.getProperty("java.io.tmpdir"));

    @TempDir Path temporary;
    @TempDir Path folder;

    private Processes processes;

    @BeforeEach
    void setUp(Processes processes) {
        this.processes = processes;
    }

    @ParameterizedTest
    @ValueSource(strings = {"target", "zero-copy", "initiator"})
    void shouldSayWhoseFaultItWasThatOneOfItsProcessesWasKilled(String victim) throws IOException {
        ChildProcess demo = demoUnderLoad("--json", "-");

        child(demo, victim).destroyForcibly();

        assertThat(demo.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(demo.errorLines())
                .anyMatch(line ->
                        line.matches(
                                "softdpu: .*demo failed: process="
                                        + victim
                                        + ", exit=137 \\(SIGKILL, .*lack of memory\\)"))
                .anyMatch(line -> line.contains("softdpu: CONNECTION_RESET: "));
        JsonNode document = new ObjectMapper().readTree(String.join("\n", demo.outputLines()));
        assertThat(document.get("valid").asBoolean()).isFalse();
        assertThat(document.get("processes").findValuesAsText("exit"))
                .hasSize(3)
                .contains("137")
                .doesNotContain("0");
        assertNothingLeft();
    }

    @Test
    void shouldGiveItsLogLevelsToItsProcessesAndEndThemOnCtrlC() {
        ChildProcess demo = demoUnderLoad("--log-level", "50", "--sdk-log-level", "60");
        List<ProcessHandle> children = children(demo);
        assertThat(children)
                .hasSize(3)
                .allSatisfy(child ->
                        assertThat(commandLine(child))
                                .contains("--log-level INFO", "--sdk-log-level DEBUG"));

        demo.signal("INT");

        assertThat(demo.awaitExit()).isEqualTo(ExitCode.INTERRUPTED.code());
        assertThat(children).noneMatch(ProcessHandle::isAlive);
        assertNothingLeft();
    }

    @Test
    void shouldEndItsProcessesWhenItIsKilled() {
        ChildProcess demo = demoUnderLoad();
        List<ProcessHandle> children = children(demo);
        assertThat(children).hasSize(3);

        // Not ChildProcess.kill, which would kill the children as well.
        ProcessHandle.of(demo.pid()).orElseThrow().destroyForcibly();

        try {
            Await.until(
                    "children ended", () -> children.stream().noneMatch(ProcessHandle::isAlive));
        } finally {
            // No other process would end a process that has lost its parent and has not noticed.
            children.forEach(ProcessHandle::destroyForcibly);
        }
    }

    @Test
    void shouldNameTheProvidersThatThereAreForAnother() {
        ChildProcess demo = demo("--provider", "ib");

        assertThat(demo.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(demo.errorLines())
                .anyMatch(line -> line.startsWith("softdpu: NOT_FOUND: demo failed: "))
                .anyMatch(line ->
                        line.contains("option=--provider, provider=ib, device=")
                                && line.contains("expected=auto or one of [shm, roce]"));
        assertNothingLeft();
    }

    @Test
    void shouldRefuseAVolumeBeforeItStartsAnything() throws IOException {
        Path missing = folder.resolve("missing");
        Path odd = Files.write(folder.resolve("odd"), new byte[4097]);

        assertRefused(missing, "softdpu: NOT_FOUND: .*" + missing + ".*");
        assertRefused(folder, "softdpu: INVALID_VALUE: .*" + folder + ".*directory.*");
        assertRefused(odd, "softdpu: INVALID_VALUE: .*" + odd + ".*4097.*multiple of 4096.*");
    }

    @Test
    void shouldRefuseAVolumeThatDoesNotFitInMemoryBeforeItStartsAnything() {
        ChildProcess demo = demo("--size", "1048576GiB");

        assertThat(demo.awaitExit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(demo.errorLines())
                .singleElement()
                .asString()
                .startsWith(
                        "softdpu: NO_MEMORY: processes need more memory than is available:"
                                + " volume=memory:1125899906842624,");
        assertThat(demo.outputLines()).isEmpty();
        assertNothingLeft();
    }

    private static void assertRefused(Path volume, String errorLine) {
        List<Path> before = demoFoldersIn(OWN_TEMPORARY);

        Run demo = Run.of("demo", "--volume", volume.toString());

        assertThat(demo.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(demo.errorLines()).singleElement().asString().matches(errorLine);
        assertThat(demoFoldersIn(OWN_TEMPORARY)).isSubsetOf(before);
    }

    private ChildProcess demoUnderLoad(String... arguments) {
        List<String> all = new ArrayList<>(List.of("--size", "1MiB"));
        all.addAll(List.of(arguments));
        ChildProcess demo = demo(all.toArray(String[]::new));
        demo.awaitErrorLine("\\[3/9\\]");
        return demo;
    }

    private ChildProcess demo(String... arguments) {
        return processes.start(
                Pipeline.command("demo", "--seconds", "3600")
                        .withArguments(arguments)
                        .withJvmOptions("-Djava.io.tmpdir=" + temporary));
    }

    private static List<ProcessHandle> children(ChildProcess demo) {
        return ProcessHandle.of(demo.pid()).orElseThrow().children().toList();
    }

    private static ProcessHandle child(ChildProcess demo, String role) {
        return children(demo).stream()
                .filter(child -> commandLine(child).contains("storage " + role))
                .findFirst()
                .orElseThrow();
    }

    /** From /proc: the platform cuts what it tells at 4096 bytes, and a class path is longer. */
    private static String commandLine(ProcessHandle process) {
        try {
            return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"))
                    .replace('\0', ' ');
        } catch (IOException e) {
            return "";
        }
    }

    private void assertNothingLeft() {
        assertThat(demoFoldersIn(temporary)).isEmpty();
    }

    private static List<Path> demoFoldersIn(Path parent) {
        try (Stream<Path> all = Files.list(parent)) {
            return all.filter(path -> path.getFileName().toString().contains("softdpu-demo"))
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
