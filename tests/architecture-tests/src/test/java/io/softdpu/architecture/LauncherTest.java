package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the launcher: its builds, the command that it starts, and the choice of the JDK. */
@StartsProcesses
class LauncherTest {

    @TempDir Path folder;

    private LauncherFixture fixture;
    private Path tree;

    @BeforeEach
    void makeTree() throws IOException {
        fixture = new LauncherFixture(folder);
        tree = fixture.tree;
    }

    @Test
    void shouldBuildOnceAndKeepStandardOutputForTheCommand(Processes processes) throws IOException {
        ChildProcess first = processes.start(fixture.launcher("demo", "--json", "a b"));
        assertThat(first.awaitExit()).isZero();
        assertThat(first.outputLines()).hasSize(3);
        assertThat(first.outputLines().getFirst())
                .contains("--enable-native-access=io.softdpu.linux")
                .contains("-p " + fixture.buildFolder(tree).resolve("run-"))
                .endsWith("-m io.softdpu.cli/io.softdpu.cli.SoftDpu demo --json a b");
        assertThat(first.outputLines().getLast()).isEqualTo("source first first");
        assertThat(first.errorLines()).isNotEmpty().allMatch(line -> line.startsWith("softdpu: "));

        ChildProcess second = processes.start(fixture.launcher("demo"));
        assertThat(second.awaitExit()).isZero();
        assertThat(second.errorLines()).isEmpty();
        assertThat(fixture.builds()).hasSize(1);
    }

    @Test
    void shouldBuildAgainForAnotherStateOfTheSource(Processes processes) throws IOException {
        assertThat(processes.start(fixture.launcher()).awaitExit()).isZero();
        fixture.edit("other");

        ChildProcess second = processes.start(fixture.launcher());
        assertThat(second.awaitExit()).isZero();
        assertThat(second.outputLines()).contains("source other other");
        assertThat(fixture.builds()).hasSize(2);
        assertThat(fixture.runFolders(tree)).hasSize(1);
    }

    @Test
    void shouldForgetFilesThatHaveGone(Processes processes) throws IOException {
        Files.writeString(tree.resolve("applications/cli/src/main/extra"), "extra");
        assertThat(processes.start(fixture.launcher()).awaitExit()).isZero();
        Path staged = fixture.buildFolder(tree).resolve("stage/applications/cli/src/main/extra");
        assertThat(staged).exists();
        Files.delete(tree.resolve("applications/cli/src/main/extra"));

        assertThat(processes.start(fixture.launcher()).awaitExit()).isZero();
        assertThat(staged).doesNotExist();
        assertThat(fixture.builds()).hasSize(2);
    }

    @Test
    void shouldNotTakeTheJarsFromARunningCommand(Processes processes) throws IOException {
        ChildProcess running = processes.start(fixture.launcher("stay"));
        running.awaitLine("^java");
        fixture.edit("other");

        assertThat(processes.start(fixture.launcher()).awaitExit()).isZero();
        assertThat(fixture.runFolders(tree)).hasSize(2);
        running.standardInput().close();
        assertThat(running.awaitExit()).isZero();
        assertThat(running.outputLines()).contains("source first first");

        fixture.edit("third");
        assertThat(processes.start(fixture.launcher()).awaitExit()).isZero();
        assertThat(fixture.runFolders(tree)).hasSize(1);
    }

    /** As a script does that compiles against them. */
    @Test
    void shouldNotTakeTheJarsFromAScriptThatHoldsTheirLock(Processes processes) throws IOException {
        String script =
                """
                set -eu
                . "$1"
                hold_jars "$2"
                echo "$SOFTDPU_INTEROP_JARS"
                exec cat
                """;
        ProcessBuilder builder = fixture.launcher();
        String launcher = builder.command().getFirst();
        String functions = ProjectModules.ROOT.resolve("interop/jars.sh").toString();
        builder.command(List.of("bash", "-c", script, "script", functions, launcher));
        ChildProcess holder = processes.start(builder);
        Path jars = Path.of(holder.awaitLine("/run-"));

        fixture.edit("other");
        assertThat(processes.start(fixture.launcher()).awaitExit()).isZero();
        assertThat(fixture.runFolders(tree)).hasSize(2).contains(jars);

        holder.standardInput().close();
        assertThat(holder.awaitExit()).isZero();
        fixture.edit("third");
        assertThat(processes.start(fixture.launcher()).awaitExit()).isZero();
        assertThat(fixture.runFolders(tree)).hasSize(1).doesNotContain(jars);
    }

    @Test
    void shouldBuildOnceForStartsAtTheSameTime(Processes processes) throws IOException {
        List<ChildProcess> starts =
                IntStream.range(0, 6).mapToObj(i -> processes.start(fixture.launcher())).toList();

        for (ChildProcess start : starts) {
            assertThat(start.awaitExit()).isZero();
            assertThat(start.outputLines()).contains("source first first");
        }
        assertThat(fixture.builds()).hasSize(1);
    }

    @Test
    void shouldSayWhyABuildFailedAndRunNothing(Processes processes) throws IOException {
        Files.createFile(folder.resolve("broken"));

        ChildProcess start = processes.start(fixture.launcher("demo"));
        assertThat(start.awaitExit()).isEqualTo(1);
        assertThat(start.outputLines()).isEmpty();
        assertThat(start.errorLines()).contains("[ERROR] broken on purpose");
        assertThat(fixture.runFolders(tree)).isEmpty();
    }

    @Test
    void shouldMakeTheJavadocOnceForEachStateOfTheSource(Processes processes) throws IOException {
        Path page = fixture.buildFolder(tree).resolve("docs/index.html");

        ChildProcess first = processes.start(fixture.launcher("docs"));
        assertThat(first.awaitExit()).isZero();
        assertThat(first.outputLines()).containsExactly(page.toString());
        assertThat(first.errorLines())
                .hasSize(2)
                .first()
                .asString()
                .startsWith(
                        "softdpu: making the Javadoc, once for this state of the source: takes"
                                + " about half a minute");
        assertThat(page).content().isEqualTo("first overview");

        ChildProcess second = processes.start(fixture.launcher("docs"));
        assertThat(second.awaitExit()).isZero();
        assertThat(second.outputLines()).containsExactly(page.toString());
        assertThat(second.errorLines()).isEmpty();
        assertThat(fixture.builds()).hasSize(1);

        fixture.edit("other");
        assertThat(processes.start(fixture.launcher("docs")).awaitExit()).isZero();
        assertThat(page).content().isEqualTo("other overview");
        Files.writeString(tree.resolve("docs/overview.md"), " view");
        assertThat(processes.start(fixture.launcher("docs")).awaitExit()).isZero();
        assertThat(page).content().isEqualTo("other view");
    }

    @Test
    void shouldKeepJavadocAndJarsApart(Processes processes) throws IOException {
        assertThat(processes.start(fixture.launcher("docs")).awaitExit()).isZero();
        ChildProcess command = processes.start(fixture.launcher("demo"));
        assertThat(command.awaitExit()).isZero();
        assertThat(command.outputLines()).contains("source first first");
        assertThat(fixture.builds()).hasSize(2);

        assertThat(processes.start(fixture.launcher("docs")).awaitExit()).isZero();
        assertThat(fixture.builds()).hasSize(2);
    }

    @Test
    void shouldNotPrintAPageOfAnEarlierStateOfTheSource(Processes processes) throws IOException {
        assertThat(processes.start(fixture.launcher("docs")).awaitExit()).isZero();
        fixture.edit("other");
        Files.createFile(folder.resolve("broken"));

        ChildProcess start = processes.start(fixture.launcher("docs"));
        assertThat(start.awaitExit()).isEqualTo(1);
        assertThat(start.outputLines()).isEmpty();
        assertThat(start.errorLines()).contains("[ERROR] broken on purpose");
    }

    @Test
    void shouldRefuseArgumentsOfDocsInOneLine(Processes processes) throws IOException {
        ChildProcess start = processes.start(fixture.launcher("docs", "core"));
        assertThat(start.awaitExit()).isEqualTo(2);
        assertThat(start.outputLines()).isEmpty();
        assertThat(start.errorLines())
                .singleElement()
                .asString()
                .startsWith("softdpu: docs takes no arguments")
                .endsWith("argument=core");
        assertThat(fixture.builds()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-h", "--help"})
    void shouldExplainDocsWithoutABuild(String option, Processes processes) throws IOException {
        ChildProcess start = processes.start(fixture.launcher("docs", option));
        assertThat(start.awaitExit()).isZero();
        assertThat(start.outputLines()).first().asString().startsWith("Usage: softdpu docs");
        assertThat(fixture.builds()).isEmpty();
    }

    @Test
    void shouldRunThroughALinkFromAnywhere(Processes processes) throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), tree.resolve("softdpu"));
        ProcessBuilder linked = fixture.launcher();
        linked.command().set(0, link.toString());

        ChildProcess start = processes.start(linked);
        assertThat(start.awaitExit()).isZero();
        assertThat(start.outputLines()).contains("source first first");
    }

    @Test
    void shouldRefuseAnOldJdkThatIsNamedInOneLine(Processes processes) throws IOException {
        ProcessBuilder old = fixture.launcher();
        old.environment().put("SOFTDPU_JAVA_HOME", fixture.makeJdk("jdk17", "17.0.9").toString());

        ChildProcess start = processes.start(old);
        assertThat(start.awaitExit()).isEqualTo(1);
        assertThat(start.errorLines()).singleElement().asString().contains("SOFTDPU_JAVA_HOME");
        assertThat(fixture.builds()).isEmpty();
    }

    @Test
    void shouldRefuseARuntimeThatCannotCompile(Processes processes) throws IOException {
        Files.delete(folder.resolve("jdk/bin/javac"));

        ChildProcess start = processes.start(fixture.launcher());
        assertThat(start.awaitExit()).isEqualTo(1);
        assertThat(start.errorLines()).singleElement().asString().contains("is no JDK 25");
    }

    @Test
    void shouldPassOverAnOldJavaHomeAndFindTheToolchain(Processes processes) throws IOException {
        Path newer = fixture.makeJdk("jdk-of-toolchains", "26");
        Files.createDirectories(folder.resolve(".m2"));
        Files.writeString(
                folder.resolve(".m2/toolchains.xml"),
                "<toolchains>\n  <jdkHome>" + newer + "</jdkHome>\n</toolchains>\n",
                StandardCharsets.UTF_8);
        ProcessBuilder plain = fixture.launcher("--print-jdk-home");
        plain.environment().remove("SOFTDPU_JAVA_HOME");
        plain.environment().put("JAVA_HOME", fixture.makeJdk("jdk17", "17.0.9").toString());

        ChildProcess start = processes.start(plain);
        assertThat(start.awaitExit()).isZero();
        assertThat(start.outputLines()).containsExactly(newer.toString());
    }

    @ParameterizedTest
    @CsvSource({
        "x86_64,, glibc.cpu.x86_non_temporal_threshold=0x20000",
        "x86_64, a.b=1, a.b=1:glibc.cpu.x86_non_temporal_threshold=0x20000",
        "x86_64, glibc.cpu.x86_non_temporal_threshold=9, glibc.cpu.x86_non_temporal_threshold=9",
        "aarch64,, none",
        "aarch64, a.b=1, a.b=1"
    })
    void shouldHaveLargeCopiesPassTheCachesUnlessTheUserSaysWhen(
            String machine, @Nullable String given, String expected, Processes processes)
            throws IOException {
        fixture.setMachine(machine);
        ProcessBuilder command = fixture.launcher();
        if (given != null) {
            command.environment().put("GLIBC_TUNABLES", given);
        }

        ChildProcess start = processes.start(command);
        assertThat(start.awaitExit()).isZero();
        assertThat(start.outputLines()).contains("tunables " + expected);
    }
}
