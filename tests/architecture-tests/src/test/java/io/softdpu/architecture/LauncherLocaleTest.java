package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of both launchers with the real command: bytes of arguments, variables and folders arrive
 * as they were given, whatever the locale of the user is. The bytes are written by printf of the
 * shell, so the locale of the test does not matter.
 */
@StartsProcesses
class LauncherLocaleTest {
    private static final String TEXT = "Gr\\303\\274\\303\\237e";
    private static final String HASH =
            "f83e039796c6453a10f5519e39fd113901572316a1a8ea07cb525d2801dfd074";

    /** A JDK whose java runs the command from the class path of the test. */
    private static final String JAVA =
            """
            #!/bin/sh
            while [ "$1" != -m ]; do shift; done
            shift 2
            exec "%s" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED \\
                -cp "%s" io.softdpu.cli.SoftDpu "$@"
            """;

    @TempDir Path folder;

    private LauncherFixture fixture;
    private Path archive;

    @BeforeEach
    void makeLaunchers() throws IOException {
        fixture = new LauncherFixture(folder);
        Path java = fixture.makeJdk("jdk2", "25.0.1").resolve("bin/java");
        Path real = Path.of(System.getProperty("java.home"), "bin", "java");
        Files.writeString(
                java,
                JAVA.replaceFirst("%s", real.toString())
                        .replaceFirst("%s", System.getProperty("java.class.path")));
        archive = Files.createDirectories(folder.resolve("archive"));
        Files.createDirectories(archive.resolve("bin"));
        Files.createDirectories(archive.resolve("libexec"));
        Files.createDirectories(archive.resolve("lib"));
        Files.copy(
                ProjectModules.ROOT.resolve("applications/dist/src/main/sh/softdpu"),
                archive.resolve("bin/softdpu"));
        LauncherFixture.setMode(archive.resolve("bin/softdpu"), "rwxr-xr-x");
        Files.copy(
                ProjectModules.ROOT.resolve(LauncherFixture.SHARED),
                archive.resolve("libexec/java.sh"));
    }

    /** Runs a script of the shell, in which {@code $softdpu} is the launcher. */
    private ChildProcess run(Processes processes, Path launcher, String script, String... locale) {
        ProcessBuilder builder = fixture.launcher();
        builder.command().clear();
        builder.command().addAll(List.of("/bin/sh", "-c", script));
        // Behind those of the fixture, of which Maven is one.
        builder.environment().merge("PATH", System.getenv("PATH"), (own, all) -> own + ":" + all);
        builder.environment().put("softdpu", launcher.toString());
        builder.environment().put("SOFTDPU_JAVA_HOME", folder.resolve("jdk2").toString());
        builder.environment().put("SOFTDPU_FABRIC", folder.resolve("fabric").toString());
        for (String each : locale) {
            int equals = each.indexOf('=');
            if (equals > 0) {
                builder.environment().put(each.substring(0, equals), each.substring(equals + 1));
            }
        }
        return processes.start(builder);
    }

    private Path archived() {
        return archive.resolve("bin/softdpu");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "LC_ALL=C",
                "LC_ALL=xx_YY.UTF-8",
                "LC_CTYPE=C.UTF-8 LANG=xx_YY",
                "LC_MESSAGES=de_DE.UTF-8 LANGUAGE=de",
                "LC_ALL=de_DE.ISO-8859-1"
            })
    void shouldHashTheBytesThatWereGiven(String locale, Processes processes) {
        String script = "\"$softdpu\" sample sha --text \"$(printf '" + TEXT + "')\"";

        ChildProcess sample = run(processes, archived(), script, locale.split(" "));
        assertThat(sample.awaitExit()).isZero();
        assertThat(sample.outputLines()).contains("whole: bytes=7, sha256=" + HASH);
    }

    /** The locales with UTF-8 of a system, that of the user, and the one that is chosen. */
    @ParameterizedTest
    @CsvSource({
        "C.UTF-8 de_DE.UTF-8,  LC_ALL=de_DE.UTF-8,       C.UTF-8",
        "de_DE.UTF-8,          LC_ALL=de_DE.UTF-8,       de_DE.UTF-8",
        "de_DE.UTF-8,          LANG=de_DE.UTF-8,         de_DE.UTF-8",
        "en_US.UTF-8,          LC_ALL=de_DE.ISO-8859-1,  en_US.UTF-8",
        "none,                 LC_ALL=de_DE.ISO-8859-1,  de_DE.ISO-8859-1",
        "not known,            LC_ALL=de_DE.ISO-8859-1,  C.UTF-8"
    })
    void shouldChooseALocaleOfTheSystem(
            String installed, String ofUser, String chosen, Processes processes)
            throws IOException {
        Path tools = folder.resolve("tools");
        Path locale = tools.resolve("locale");
        Files.writeString(
                locale,
                """
                #!/bin/sh
                case " %s " in *" $LC_ALL "*) echo UTF-8 ;; *) echo ANSI_X3.4-1968 ;; esac
                """
                        .replace("%s", installed));
        LauncherFixture.setMode(locale, "rwxr-xr-x");
        Files.writeString(
                folder.resolve("jdk2/bin/java"),
                "#!/bin/sh\necho \"LC_ALL=${LC_ALL:-none} LANGUAGE=${LANGUAGE:-none}\"");
        boolean isKnown = !installed.equals("not known");
        if (!isKnown) {
            Files.delete(locale);
        }

        ChildProcess start =
                run(
                        processes,
                        archived(),
                        "LANGUAGE=de"
                                + (isKnown ? "" : " PATH=" + tools)
                                + " exec \"$softdpu\" devices",
                        ofUser);

        assertThat(start.awaitExit()).as(start::toString).isZero();
        assertThat(start.outputLines()).containsExactly("LC_ALL=" + chosen + " LANGUAGE=none");
    }

    @Test
    void shouldRefuseAFolderOfJarsThatIsNotUtf8(Processes processes) {
        String script =
                "there=$(printf '\\374') && cp -r \"${softdpu%/bin/softdpu}\" \"$there\""
                        + " && exec \"$there/bin/softdpu\" devices";

        ChildProcess refused = run(processes, archived(), script, "LANG=C.UTF-8");

        assertThat(refused.awaitExit()).isOne();
        assertThat(refused.errorLines())
                .singleElement()
                .asString()
                .contains("Java cannot decode a path that is not UTF-8: folder=");
    }

    @Test
    void shouldHashTheBytesThatWereGivenToTheLauncherOfTheTree(Processes processes) {
        String script = "\"$softdpu\" sample sha --text \"$(printf '" + TEXT + "')\"";

        ChildProcess sample = run(processes, fixture.tree.resolve("softdpu"), script, "LC_ALL=C");
        assertThat(sample.awaitExit()).isZero();
        assertThat(sample.outputLines()).contains("whole: bytes=7, sha256=" + HASH);
    }

    /** Of the fabric folder, of a volume below the working directory, and of the children's. */
    @Test
    void shouldUseFoldersAndFilesBeyondAscii(Processes processes) {
        String script =
                """
                here=$(printf 'f\\303\\244b') && mkdir "$here" && cd "$here" &&
                head -c 1048576 /dev/zero >"$(printf 'bild-\\303\\251.img')" &&
                SOFTDPU_FABRIC=$PWD/$(printf '\\303\\274') && export SOFTDPU_FABRIC &&
                "$softdpu" sample pe-polling && test -d "$SOFTDPU_FABRIC" &&
                "$softdpu" demo --seconds 0.1 --measure idle \\
                    --volume "$(printf 'bild-\\303\\251.img')" --json "$(printf '\\303\\266.json')" &&
                test -s "$(printf '\\303\\266.json')"
                """;

        ChildProcess all = run(processes, archived(), script, "LC_ALL=C");
        assertThat(all.awaitExit()).as(() -> String.join("\n", all.errorLines())).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"$softdpu\" sample sha --text \"$(printf 'Gr\\374')\"|option=--text, value=Gr?,",
                "\"$softdpu\" sample rdma-send -t \"$(printf 'Gr\\374')\"|option=-t, value=Gr?,",
                "\"$softdpu\" demo --volume=\"$(printf '/\\351.img')\"|option=--volume,"
                        + " value=/?.img,",
                "SOFTDPU_FABRIC=$(printf '/\\374') \"$softdpu\" devices"
                        + "|variable=SOFTDPU_FABRIC, value=/?,",
                "SOFTDPU_TOPOLOGY=$(printf '/\\374') \"$softdpu\" devices"
                        + "|variable=SOFTDPU_TOPOLOGY, value=/?,",
                "cd \"$(printf '\\374')\" && \"$softdpu\" sample sha --file abc"
                        + "|option=--file, value=abc, workingDirectory="
            })
    void shouldRefuseBytesThatAreNoUtf8(String scriptAndMessage, Processes processes) {
        String[] parts = scriptAndMessage.split("\\|");

        ChildProcess refused =
                run(
                        processes,
                        archived(),
                        "mkdir \"$(printf '\\374')\"; " + parts[0],
                        "LANG=C.UTF-8");
        assertThat(refused.awaitExit()).isIn(1, 2);
        assertThat(refused.errorLines().getFirst())
                .contains("cannot be represented: " + parts[1])
                .contains("locale=LC_ALL=C.UTF-8, encoding=UTF-8");
    }

    @Test
    void shouldRefuseWhatAJvmWithoutTheLauncherCannotDecode(Processes processes) {
        String java = "\"$SOFTDPU_JAVA_HOME/bin/java\" -m x ";
        ChildProcess refused =
                run(processes, archived(), java + "sample sha --text \"$(printf '" + TEXT + "')\"");

        assertThat(refused.awaitExit()).isEqualTo(2);
        assertThat(refused.errorLines().getFirst())
                .contains("option=--text, value=Gr????e, locale=none, encoding=ANSI_X3.4-1968");
    }
}
