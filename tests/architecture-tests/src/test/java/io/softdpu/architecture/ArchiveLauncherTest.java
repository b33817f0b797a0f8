package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the launcher of the archives: the Java that it takes, and what it needs besides. */
@StartsProcesses
class ArchiveLauncherTest {

    @TempDir Path folder;

    private LauncherFixture fixture;
    private Path archive;

    @BeforeEach
    void makeArchive() throws IOException {
        fixture = new LauncherFixture(folder);
        // What is in no package of coreutils must not be needed.
        fixture.removeTools("cmp", "find", "flock", "grep", "mvn", "xargs");
        archive = makeArchive("an archive");
    }

    private Path makeArchive(String name) throws IOException {
        Path made = Files.createDirectories(folder.resolve(name));
        Files.createDirectories(made.resolve("bin"));
        Files.createDirectories(made.resolve("libexec"));
        Files.copy(
                ProjectModules.ROOT.resolve("applications/dist/src/main/sh/softdpu"),
                made.resolve("bin/softdpu"));
        LauncherFixture.setMode(made.resolve("bin/softdpu"), "rwxr-xr-x");
        Files.copy(
                ProjectModules.ROOT.resolve(LauncherFixture.SHARED),
                made.resolve("libexec/java.sh"));
        Files.createDirectories(made.resolve("lib"));
        return made.toRealPath();
    }

    private ProcessBuilder launcher(Path of, String... arguments) {
        ProcessBuilder builder = fixture.launcher(arguments);
        builder.command().set(0, of.resolve("bin/softdpu").toString());
        builder.environment().remove("SOFTDPU_JAVA_HOME");
        return builder;
    }

    private Path makeJdk(String name) throws IOException {
        Path jdk = fixture.makeJdk(name, "25.0.1");
        Files.delete(jdk.resolve("bin/javac"));
        Path java = jdk.resolve("bin/java");
        Files.writeString(java, "#!/bin/sh\necho \"" + jdk.getFileName() + " $*\"\n");
        return jdk;
    }

    @Test
    void shouldTakeTheJavaOfTheArchive(Processes processes) throws IOException {
        makeJdk("an archive/runtime");
        ProcessBuilder builder = launcher(archive, "demo", "a b");
        builder.environment().put("JAVA_HOME", makeJdk("other").toString());
        builder.environment().put("SOFTDPU_JAVA_OPTS", "-Xmx1g -Xint");

        ChildProcess start = processes.start(builder);
        assertThat(start.awaitExit()).isZero();
        assertThat(start.errorLines()).isEmpty();
        assertThat(start.outputLines())
                .singleElement()
                .asString()
                .startsWith("runtime ")
                .contains("--enable-native-access=io.softdpu.linux -Xmx1g -Xint -p ")
                .endsWith(
                        archive.resolve("lib")
                                + " -m io.softdpu.cli/io.softdpu.cli.SoftDpu demo a b");
    }

    @Test
    void shouldPrintItsJavaAndItsJarsForScripts(Processes processes) throws IOException {
        Path runtime = makeJdk("an archive/runtime");

        ChildProcess java = processes.start(launcher(archive, "--print-jdk-home"));
        assertThat(java.awaitExit()).isZero();
        assertThat(java.outputLines()).containsExactly(runtime.toRealPath().toString());

        ChildProcess jars = processes.start(launcher(archive, "--print-jars"));
        assertThat(jars.awaitExit()).isZero();
        assertThat(jars.outputLines()).containsExactly(archive.resolve("lib").toString());
    }

    @Test
    void shouldTakeTheJavaThatTheUserNamesBeforeThatOfTheArchive(Processes processes)
            throws IOException {
        makeJdk("an archive/runtime");
        ProcessBuilder builder = launcher(archive);
        builder.environment().put("SOFTDPU_JAVA_HOME", makeJdk("named").toString());

        ChildProcess start = processes.start(builder);
        assertThat(start.awaitExit()).isZero();
        assertThat(start.outputLines()).singleElement().asString().startsWith("named ");
    }

    @Test
    void shouldFindAJavaWithoutACompilerThroughALink(Processes processes) throws IOException {
        Path link =
                Files.createSymbolicLink(folder.resolve("link"), archive.resolve("bin/softdpu"));
        ProcessBuilder builder = launcher(archive);
        builder.command().set(0, link.toString());
        builder.environment().put("JAVA_HOME", makeJdk("found").toString());

        ChildProcess start = processes.start(builder);
        assertThat(start.awaitExit()).isZero();
        assertThat(start.outputLines()).singleElement().asString().startsWith("found ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SOFTDPU_JAVA_OPTS",
                "JAVA_TOOL_OPTIONS",
                "JDK_JAVA_OPTIONS",
                "_JAVA_OPTIONS"
            })
    void shouldLeaveTheCollectorAndTheLogToTheUser(String variable, Processes processes)
            throws IOException {
        makeJdk("an archive/runtime");
        ProcessBuilder builder = launcher(archive);
        builder.environment().put(variable, "-Xmx1g -XX:+UseZGC -Xlog:gc*:file=gc.log");
        ProcessBuilder other = launcher(archive);
        other.environment().put(variable, "-XX:+UseStringDeduplication -XX:-UseCompressedOops");

        assertThat(commandOf(processes, builder)).doesNotContain("UseSerialGC", "-Xlog:disable");
        assertThat(commandOf(processes, other)).contains("-XX:+UseSerialGC", "-Xlog:disable");
    }

    private static String commandOf(Processes processes, ProcessBuilder builder) {
        ChildProcess start = processes.start(builder);
        assertThat(start.awaitExit()).isZero();
        return start.outputLines().getFirst();
    }

    @Test
    void shouldPrintWhereTheJavadocIsOrThatItIsMissing(Processes processes) throws IOException {
        Path page = archive.resolve("share/doc/softdpu/index.html");

        ChildProcess without = processes.start(launcher(archive, "docs"));
        assertThat(without.awaitExit()).isEqualTo(1);
        assertThat(without.outputLines()).isEmpty();
        assertThat(without.errorLines())
                .containsExactly("softdpu: the Javadoc is missing: file=" + page);

        Files.createDirectories(page.getParent());
        Files.createFile(page);
        ChildProcess with = processes.start(launcher(archive, "docs"));
        assertThat(with.awaitExit()).isZero();
        assertThat(with.outputLines()).containsExactly(page.toString());
        assertThat(with.errorLines()).isEmpty();
    }

    @Test
    void shouldSayInOneLineThatThereAreTooFewDescriptors(Processes processes) throws IOException {
        makeJdk("an archive/runtime");
        ProcessBuilder builder = launcher(archive);
        builder.command(
                "/bin/sh", "-c", "ulimit -n 20 && exec \"$0\"", builder.command().getFirst());

        ChildProcess start = processes.start(builder);
        assertThat(start.awaitExit()).isEqualTo(1);
        assertThat(start.outputLines()).isEmpty();
        assertThat(start.errorLines())
                .singleElement()
                .asString()
                .isEqualTo(
                        "softdpu: too few descriptors: resource=RLIMIT_NOFILE, limit=20,"
                                + " expected=40 or more (ulimit -n 1024)");
    }

    @Test
    void shouldRefuseAFolderWithAColon(Processes processes) throws IOException {
        makeJdk("a:b/runtime");

        ChildProcess start = processes.start(launcher(makeArchive("a:b")));
        assertThat(start.awaitExit()).isEqualTo(1);
        assertThat(start.outputLines()).isEmpty();
        assertThat(start.errorLines()).singleElement().asString().contains("colon");
    }
}
