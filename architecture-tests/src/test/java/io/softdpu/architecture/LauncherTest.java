package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Processes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The launcher in a tree of its own, with a Maven that only says that it was called and a JDK whose
 * java prints what it was given: what is tested is the script, not the build.
 */
class LauncherTest {

    private static final Duration SOON = Duration.ofSeconds(60);

    private static final List<String> TOOLS =
            List.of(
                    "sh",
                    "cat",
                    "cmp",
                    "comm",
                    "cp",
                    "cut",
                    "dirname",
                    "find",
                    "flock",
                    "grep",
                    "head",
                    "mkdir",
                    "mv",
                    "readlink",
                    "rm",
                    "sed",
                    "sha256sum",
                    "sort",
                    "tr",
                    "xargs");

    private static final String MAVEN =
            """
            #!/bin/sh
            echo "$PWD" >>"$LAUNCHER_TEST/builds"
            [ ! -e "$LAUNCHER_TEST/broken" ] || { echo "[ERROR] broken on purpose"; exit 1; }
            mkdir -p cli/target/run
            cp cli/src/main/source cli/target/cli.jar
            cp cli/src/main/source cli/target/run/lib.jar
            """;

    /** Its first argument "stay" makes it wait for the end of its input. */
    private static final String JAVA =
            """
            #!/bin/sh
            run=
            for argument; do
                case "$argument" in */run-*) run=$argument ;; esac
            done
            echo "java $*"
            echo "tunables ${GLIBC_TUNABLES:-none}"
            case "$*" in *" stay") cat ;; esac
            echo "source $(cat "$run/cli.jar") $(cat "$run/lib.jar")"
            """;

    @TempDir Path folder;

    private Path tree;
    private Path tools;

    @BeforeEach
    void makeTree() throws IOException {
        tree = Files.createDirectories(folder.resolve("a tree"));
        Files.copy(House.ROOT.resolve("softdpu"), tree.resolve("softdpu"));
        Files.setPosixFilePermissions(
                tree.resolve("softdpu"), PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(tree.resolve("pom.xml"), "<project/>");
        Files.createDirectories(tree.resolve("cli/src/main"));
        Files.writeString(tree.resolve("cli/pom.xml"), "<project/>");
        Files.writeString(tree.resolve("cli/src/main/source"), "first");

        tools = Files.createDirectories(folder.resolve("tools"));
        for (String tool : TOOLS) {
            executable(tools.resolve(tool), "#!/bin/sh\nexec " + find(tool) + " \"$@\"\n");
        }
        executable(tools.resolve("mvn"), MAVEN);
        machine("x86_64");
        jdk("jdk", "25.0.1");
    }

    private static Path find(String tool) {
        return Arrays.stream(System.getenv("PATH").split(":"))
                .map(bin -> Path.of(bin, tool))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow();
    }

    private Path jdk(String name, String version) throws IOException {
        Path jdk = Files.createDirectories(folder.resolve(name));
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
        Files.createDirectories(jdk.resolve("bin"));
        executable(jdk.resolve("bin/java"), JAVA);
        executable(jdk.resolve("bin/javac"), "#!/bin/sh");
        return jdk;
    }

    private static void executable(Path file, String text) throws IOException {
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private void machine(String name) throws IOException {
        executable(tools.resolve("uname"), "#!/bin/sh\necho " + name);
    }

    private ProcessBuilder launcher(String... arguments) {
        List<String> line = new ArrayList<>(List.of(tree.resolve("softdpu").toString()));
        line.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(line).directory(folder.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", tools.toString());
        builder.environment().put("HOME", folder.toString());
        builder.environment().put("SOFTDPU_JAVA_HOME", folder.resolve("jdk").toString());
        builder.environment().put("LAUNCHER_TEST", folder.toString());
        return builder;
    }

    private List<String> builds() throws IOException {
        Path builds = folder.resolve("builds");
        return Files.exists(builds) ? Files.readAllLines(builds) : List.of();
    }

    private List<Path> runFolders() throws IOException {
        try (Stream<Path> children = Files.list(tree.resolve(".build"))) {
            return children.filter(child -> child.getFileName().toString().startsWith("run-"))
                    .toList();
        }
    }

    @Test
    void shouldBuildOnceAndKeepStandardOutputForTheCommand(Processes processes) throws IOException {
        ChildProcess first = processes.start(launcher("demo", "--json", "a b"));
        assertThat(first.awaitExit(SOON)).isZero();
        assertThat(first.outputLines()).hasSize(3);
        assertThat(first.outputLines().getFirst())
                .contains("--enable-native-access=io.softdpu.linux")
                .contains("-p " + tree.resolve(".build/run-"))
                .endsWith("-m io.softdpu.cli/io.softdpu.cli.SoftDpu demo --json a b");
        assertThat(first.outputLines().getLast()).isEqualTo("source first first");
        assertThat(first.errorLines()).isNotEmpty().allMatch(line -> line.startsWith("softdpu: "));

        ChildProcess second = processes.start(launcher("demo"));
        assertThat(second.awaitExit(SOON)).isZero();
        assertThat(second.errorLines()).isEmpty();
        assertThat(builds()).hasSize(1);
    }

    @Test
    void shouldBuildAgainForAnotherStateOfTheSource(Processes processes) throws IOException {
        assertThat(processes.start(launcher()).awaitExit(SOON)).isZero();
        Files.writeString(tree.resolve("cli/src/main/source"), "other");

        ChildProcess second = processes.start(launcher());
        assertThat(second.awaitExit(SOON)).isZero();
        assertThat(second.outputLines()).contains("source other other");
        assertThat(builds()).hasSize(2);
        assertThat(runFolders()).hasSize(1);
    }

    @Test
    void shouldForgetFilesThatHaveGone(Processes processes) throws IOException {
        Files.writeString(tree.resolve("cli/src/main/extra"), "extra");
        assertThat(processes.start(launcher()).awaitExit(SOON)).isZero();
        Path staged = tree.resolve(".build/stage/cli/src/main/extra");
        assertThat(staged).exists();
        Files.delete(tree.resolve("cli/src/main/extra"));

        assertThat(processes.start(launcher()).awaitExit(SOON)).isZero();
        assertThat(staged).doesNotExist();
        assertThat(builds()).hasSize(2);
    }

    @Test
    void shouldNotTakeTheJarsFromARunningCommand(Processes processes) throws IOException {
        ChildProcess running = processes.start(launcher("stay"));
        running.awaitLine("^java", SOON);
        Files.writeString(tree.resolve("cli/src/main/source"), "other");

        assertThat(processes.start(launcher()).awaitExit(SOON)).isZero();
        assertThat(runFolders()).hasSize(2);
        running.standardInput().close();
        assertThat(running.awaitExit(SOON)).isZero();
        assertThat(running.outputLines()).contains("source first first");

        Files.writeString(tree.resolve("cli/src/main/source"), "third");
        assertThat(processes.start(launcher()).awaitExit(SOON)).isZero();
        assertThat(runFolders()).hasSize(1);
    }

    @Test
    void shouldBuildOnceForStartsAtTheSameTime(Processes processes) throws IOException {
        List<ChildProcess> starts =
                IntStream.range(0, 6).mapToObj(i -> processes.start(launcher())).toList();

        for (ChildProcess start : starts) {
            assertThat(start.awaitExit(SOON)).isZero();
            assertThat(start.outputLines()).contains("source first first");
        }
        assertThat(builds()).hasSize(1);
    }

    @Test
    void shouldSayWhyABuildFailedAndRunNothing(Processes processes) throws IOException {
        Files.createFile(folder.resolve("broken"));

        ChildProcess start = processes.start(launcher("demo"));
        assertThat(start.awaitExit(SOON)).isEqualTo(1);
        assertThat(start.outputLines()).isEmpty();
        assertThat(start.errorLines()).contains("[ERROR] broken on purpose");
        assertThat(runFolders()).isEmpty();
    }

    @Test
    void shouldRunThroughALinkFromAnywhere(Processes processes) throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), tree.resolve("softdpu"));
        ProcessBuilder linked = launcher();
        linked.command().set(0, link.toString());

        ChildProcess start = processes.start(linked);
        assertThat(start.awaitExit(SOON)).isZero();
        assertThat(start.outputLines()).contains("source first first");
    }

    @Test
    void shouldRefuseAnOldJdkThatIsNamedInOneLine(Processes processes) throws IOException {
        ProcessBuilder old = launcher();
        old.environment().put("SOFTDPU_JAVA_HOME", jdk("jdk17", "17.0.9").toString());

        ChildProcess start = processes.start(old);
        assertThat(start.awaitExit(SOON)).isEqualTo(1);
        assertThat(start.errorLines()).singleElement().asString().contains("SOFTDPU_JAVA_HOME");
        assertThat(builds()).isEmpty();
    }

    @Test
    void shouldRefuseARuntimeThatCannotCompile(Processes processes) throws IOException {
        Files.delete(folder.resolve("jdk/bin/javac"));

        ChildProcess start = processes.start(launcher());
        assertThat(start.awaitExit(SOON)).isEqualTo(1);
        assertThat(start.errorLines()).singleElement().asString().contains("is no JDK 25");
    }

    @Test
    void shouldPassOverAnOldJavaHomeAndFindTheToolchain(Processes processes) throws IOException {
        Path newer = jdk("jdk-of-toolchains", "26");
        Files.createDirectories(folder.resolve(".m2"));
        Files.writeString(
                folder.resolve(".m2/toolchains.xml"),
                "<toolchains>\n  <jdkHome>" + newer + "</jdkHome>\n</toolchains>\n",
                StandardCharsets.UTF_8);
        ProcessBuilder plain = launcher("--print-jdk-home");
        plain.environment().remove("SOFTDPU_JAVA_HOME");
        plain.environment().put("JAVA_HOME", jdk("jdk17", "17.0.9").toString());

        ChildProcess start = processes.start(plain);
        assertThat(start.awaitExit(SOON)).isZero();
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
        machine(machine);
        ProcessBuilder command = launcher();
        if (given != null) {
            command.environment().put("GLIBC_TUNABLES", given);
        }

        ChildProcess start = processes.start(command);
        assertThat(start.awaitExit(SOON)).isZero();
        assertThat(start.outputLines()).contains("tunables " + expected);
    }
}
