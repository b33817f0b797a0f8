package io.softdpu.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.OtherUser;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the folder in which the launcher builds: its place, and its owner and mode. */
@StartsProcesses
class LauncherCacheTest {

    @TempDir Path folder;

    private LauncherFixture fixture;

    @BeforeEach
    void makeTree() throws IOException {
        fixture = new LauncherFixture(folder);
    }

    @Test
    void shouldLeaveTheSourceTreeAsItIs(Processes processes) throws IOException {
        List<Path> before = filesOf(fixture.tree);

        shouldRun(processes, fixture.launcher());

        assertThat(filesOf(fixture.tree)).isEqualTo(before);
        Path stage = fixture.buildFolder(fixture.tree).resolve("stage");
        assertThat(fixture.builds()).containsExactly(stage.toRealPath().toString());
    }

    @Test
    void shouldMakeWritableCopiesOfReadOnlyFiles(Processes processes) throws IOException {
        Path source = fixture.tree.resolve("applications/cli/src/main/source");
        LauncherFixture.setMode(source, "r--r--r--");
        shouldRun(processes, fixture.launcher());
        Path staged =
                fixture.buildFolder(fixture.tree).resolve("stage/applications/cli/src/main/source");

        // Root could replace a read-only copy, too; no other user could.
        assertThat(LauncherFixture.mode(staged)).startsWith("rw");
    }

    @ParameterizedTest
    @CsvSource({
        "SOFTDPU_CACHE, a cache, , , a cache",
        "SOFTDPU_CACHE, one/two/, XDG_CACHE_HOME, other, one/two",
        "XDG_CACHE_HOME, a cache, , , a cache/softdpu",
        "HOME, a home, , , a home/.cache/softdpu"
    })
    void shouldBuildWhereTheEnvironmentSays(
            String variable,
            String value,
            @Nullable String otherVariable,
            @Nullable String otherValue,
            String expected,
            Processes processes)
            throws IOException {
        Files.createDirectory(folder.resolve("a home"));
        ProcessBuilder command = fixture.launcher();
        command.environment().put(variable, folder + "/" + value);
        if (otherVariable != null) {
            command.environment().put(otherVariable, folder + "/" + otherValue);
        }

        shouldRun(processes, command);

        Path built = folder.resolve(expected).resolve(LauncherFixture.hash(fixture.tree));
        assertThat(built.resolve("checkout")).content().isEqualTo(fixture.tree + "\n");
        assertThat(fixture.cache()).doesNotExist();
    }

    @Test
    void shouldIgnoreARelativeCacheHome(Processes processes) throws IOException {
        ProcessBuilder command = fixture.launcher();
        command.environment().put("XDG_CACHE_HOME", "relative");

        shouldRun(processes, command);

        assertThat(fixture.buildFolder(fixture.tree)).isDirectory();
        assertThat(folder.resolve("relative")).doesNotExist();
    }

    @Test
    void shouldMakeFoldersThatAreClosedToOthers(Processes processes) throws IOException {
        ProcessBuilder open = fixture.launcher();
        open.command().addAll(0, List.of("/bin/sh", "-c", "umask 0; exec \"$0\" \"$@\""));

        shouldRun(processes, open);

        for (Path made :
                List.of(
                        folder.resolve(".cache"),
                        fixture.cache(),
                        fixture.buildFolder(fixture.tree))) {
            assertThat(LauncherFixture.mode(made)).as(made.toString()).isEqualTo("rwx------");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "HOME, , HOME=:",
        "HOME, /proc/self/none, HOME=/proc/self/none:",
        "HOME, relative, folder=relative/.cache/softdpu:",
        "SOFTDPU_CACHE, relative/cache, folder=relative/cache:",
        "SOFTDPU_CACHE, /a:b, folder=/a:b:"
    })
    void shouldSayInOneLineThatThereIsNoFolder(
            String variable, @Nullable String value, String named, Processes processes)
            throws IOException {
        Files.createDirectory(folder.resolve("relative"));
        ProcessBuilder command = fixture.launcher();
        command.environment().remove(variable);
        if (value != null) {
            command.environment().put(variable, value);
        }

        shouldRefuse(processes, command, named, "set SOFTDPU_CACHE");
        assertThat(folder.resolve("relative")).isEmptyDirectory();
    }

    @Test
    void shouldSayInOneLineThatTheDiskHasTooLittleRoom(Processes processes) throws IOException {
        fixture.setAvailableKib(49151);
        shouldRefuse(
                processes,
                fixture.launcher(),
                "too little room to build in: folder=" + fixture.buildFolder(fixture.tree),
                "availableKib=49151, expected=49152 or more",
                "SOFTDPU_CACHE");
        assertThat(fixture.builds()).isEmpty();

        fixture.setAvailableKib(49152);
        shouldRun(processes, fixture.launcher());
        fixture.setAvailableKib(0); // nothing is built
        shouldRun(processes, fixture.launcher());
    }

    @Test
    void shouldSayInOneLineThatAFileIsNoFolder(Processes processes) throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "kept");
        ProcessBuilder command = fixture.launcher();
        command.environment().put("SOFTDPU_CACHE", file.toString());

        shouldRefuse(
                processes,
                command,
                "no folder to build in: folder=" + file + ",",
                "expected=a folder:",
                "set SOFTDPU_CACHE to another");
        assertThat(file).content().isEqualTo("kept");
    }

    @Test
    void shouldSayInOneLineWhichFolderCannotBeMadeAndWhy(Processes processes) throws IOException {
        // Not even root can make a folder with such a name.
        Path tooLong = folder.resolve("x".repeat(300));
        ProcessBuilder command = fixture.launcher();
        command.environment().put("SOFTDPU_CACHE", tooLong.toString());

        shouldRefuse(
                processes,
                command,
                "folder=" + tooLong + ",",
                "reason=File name too long",
                "set SOFTDPU_CACHE");
    }

    /** Ways in which another user may have prepared a folder. */
    enum Unsafe {
        WRITABLE_BY_ALL(0777, "drwxrwxrwx"),
        WRITABLE_BY_THE_GROUP(0770, "drwxrwx---"),
        STICKY(01777, "drwxrwxrwt"),
        READABLE_BY_ALL(0755, "drwxr-xr-x"),
        LINK(0, "lrwxrwxrwx"),
        FILE(0, "-rw-------");

        private final int mode;
        private final String found;

        Unsafe(int mode, String found) {
            this.mode = mode;
            this.found = found;
        }

        void takeThePlaceOf(Path path) throws IOException {
            if (mode != 0) {
                Files.setAttribute(path, "unix:mode", mode);
                return;
            }
            Path moved = Files.move(path, path.resolveSibling("moved"));
            if (this == LINK) {
                Files.createSymbolicLink(path, moved);
            } else {
                Files.createFile(path);
                LauncherFixture.setMode(path, "rw-------");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotRunFromABuildFolderThatIsNotPrivate(Unsafe unsafe, Processes processes)
            throws IOException {
        shouldRun(processes, fixture.launcher());
        Path built = fixture.buildFolder(fixture.tree);
        unsafe.takeThePlaceOf(built);

        shouldRefuse(
                processes,
                fixture.launcher(),
                "folder=" + built + ",",
                ", " + unsafe.found + ",",
                "expected=",
                ", drwx------",
                "set SOFTDPU_CACHE");
    }

    @ParameterizedTest
    @EnumSource(names = {"WRITABLE_BY_ALL", "WRITABLE_BY_THE_GROUP", "FILE"})
    void shouldNotRunBelowAFolderThatOthersCanWrite(Unsafe unsafe, Processes processes)
            throws IOException {
        shouldRun(processes, fixture.launcher());
        unsafe.takeThePlaceOf(fixture.cache());

        shouldRefuse(
                processes,
                fixture.launcher(),
                "folder=" + fixture.cache() + ",",
                ", " + unsafe.found + ",",
                "set SOFTDPU_CACHE");
    }

    @ParameterizedTest
    @EnumSource(names = {"STICKY", "READABLE_BY_ALL", "LINK"})
    void shouldRunBelowAFolderInWhichOthersCannotReplaceAnything(
            Unsafe harmless, Processes processes) throws IOException {
        shouldRun(processes, fixture.launcher());
        harmless.takeThePlaceOf(fixture.cache());

        shouldRun(processes, fixture.launcher());
        assertThat(fixture.builds()).hasSize(1);
    }

    @Test
    void shouldFollowNoLinkToWhereOthersCanWrite(Processes processes) throws IOException {
        Path open = Files.createDirectory(folder.resolve("open"));
        Files.setAttribute(open, "unix:mode", 0777);
        Path between = Files.createDirectory(open.resolve("between"));
        Files.createSymbolicLink(folder.resolve("link"), Path.of("open/between"));
        ProcessBuilder command = fixture.launcher();
        command.environment().put("SOFTDPU_CACHE", folder + "/link/cache");

        shouldRefuse(processes, command, "folder=" + open + ",", ", drwxrwxrwx,");
        assertThat(between).isEmptyDirectory();
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "loop"})
    void shouldRefuseALinkThatLeadsToNoFolder(String target, Processes processes)
            throws IOException {
        Files.createSymbolicLink(folder.resolve("loop"), Path.of(target));
        ProcessBuilder command = fixture.launcher();
        command.environment().put("SOFTDPU_CACHE", folder + "/loop");

        shouldRefuse(processes, command, "folder=" + folder + "/loop,", "expected=a folder:");
        assertThat(folder.resolve("none")).doesNotExist();
    }

    @Test
    void shouldNotRunFromAFolderOfAnotherUser(Processes processes) throws IOException {
        OtherUser other = OtherUser.nobody();
        shouldRun(processes, fixture.launcher());

        for (Path given :
                List.of(
                        fixture.buildFolder(fixture.tree),
                        fixture.cache(),
                        folder.resolve(".cache"))) {
            other.own(given);
            shouldRefuse(
                    processes,
                    fixture.launcher(),
                    "folder=" + given + ",",
                    "found=uid " + other.uid() + ", drwx------,",
                    "expected=",
                    "uid 0");
        }
    }

    @Test
    void shouldFollowNoLinkOfAnotherUser(Processes processes) throws IOException {
        OtherUser other = OtherUser.nobody();
        Path own = Files.createDirectory(folder.resolve("own"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), own);
        LauncherFixture.giveLink(link, other);
        ProcessBuilder command = fixture.launcher();
        command.environment().put("SOFTDPU_CACHE", link + "/cache");

        shouldRefuse(
                processes,
                command,
                "folder=" + link + ",",
                "found=uid " + other.uid() + ", lrwxrwxrwx,");
        assertThat(own).isEmptyDirectory();
    }

    @Test
    void shouldBuildAgainWhereJarsAreIncomplete(Processes processes) throws IOException {
        shouldRun(processes, fixture.launcher());
        Path run = fixture.runFolders(fixture.tree).getFirst();
        Files.delete(run.resolve("in-use"));
        Files.delete(run.resolve("lib.jar"));

        shouldRun(processes, fixture.launcher());
        assertThat(fixture.builds()).hasSize(2);
    }

    @Test
    void shouldRemoveTheBuildFolderOfATreeThatHasGone(Processes processes) throws IOException {
        Path gone = buildOfATreeThatHasGone(processes, "gone tree");
        Path staying = fixture.makeTree("staying tree");
        shouldRun(processes, fixture.launcherOf(staying));

        shouldRun(processes, fixture.launcher());

        assertThat(gone).doesNotExist();
        assertThat(fixture.buildFolder(staying)).isDirectory();
        assertThat(fixture.buildFolder(fixture.tree).resolve("gone")).doesNotExist();
    }

    @Test
    void shouldKeepTheBuildFolderOfATreeThatHasGoneWhileACommandRuns(Processes processes)
            throws IOException {
        Path other = fixture.makeTree("other tree");
        ChildProcess running = processes.start(fixture.launcherOf(other, "stay"));
        running.awaitLine("^java");
        Files.move(other, folder.resolve("moved"));

        shouldRun(processes, fixture.launcher());
        assertThat(fixture.runFolders(other)).hasSize(1);
        running.standardInput().close();
        assertThat(running.awaitExit()).isZero();
        assertThat(running.outputLines()).contains("source first first");

        fixture.edit("second");
        assertThat(processes.start(fixture.launcher()).awaitExit()).isZero();
        assertThat(fixture.buildFolder(other)).doesNotExist();
    }

    @Test
    void shouldKeepTheBuildFolderOfATreeThatHasGoneWhileItIsBuilt(Processes processes)
            throws IOException {
        Path gone = buildOfATreeThatHasGone(processes, "gone tree");
        ChildProcess holder = holdLock(processes, gone);

        shouldRun(processes, fixture.launcher());
        assertThat(gone.resolve("stage")).isDirectory();
        holder.standardInput().close();
        assertThat(holder.awaitExit()).isZero();

        fixture.edit("second");
        assertThat(processes.start(fixture.launcher()).awaitExit()).isZero();
        assertThat(gone).doesNotExist();
    }

    @Test
    void shouldRemoveNothingThatItHasNotMade(Processes processes) throws IOException {
        Path gone = buildOfATreeThatHasGone(processes, "gone tree");
        Path otherName =
                Files.move(
                        buildOfATreeThatHasGone(processes, "second"),
                        fixture.cache().resolve("0123456789abcdef"));
        Path open = buildOfATreeThatHasGone(processes, "third");
        LauncherFixture.setMode(open, "rwxrwxrwx");
        Path link = buildOfATreeThatHasGone(processes, "fourth");
        Path target = Files.move(link, folder.resolve("target of the link"));
        Files.createSymbolicLink(link, target);
        Path foreign = Files.createDirectory(fixture.cache().resolve("foreign"));

        shouldRun(processes, fixture.launcher());

        assertThat(gone).doesNotExist();
        assertThat(link).isSymbolicLink();
        assertThat(foreign).isDirectory();
        for (Path kept : List.of(otherName, open, target)) {
            assertThat(kept.resolve("stage/applications/cli/src/main/source"))
                    .as(kept.toString())
                    .exists();
        }
    }

    @Test
    void shouldNotRemoveAFolderOfAnotherUser(Processes processes) throws IOException {
        OtherUser other = OtherUser.nobody();
        Path gone = buildOfATreeThatHasGone(processes, "gone tree");
        Path given = buildOfATreeThatHasGone(processes, "given tree");
        other.own(given);

        shouldRun(processes, fixture.launcher());

        assertThat(gone).doesNotExist();
        assertThat(given.resolve("stage")).isDirectory();
    }

    @Test
    void shouldBuildInANewFolderIfTheOldOneIsRemovedWhileItWaits(Processes processes)
            throws IOException {
        Path built = fixture.buildFolder(fixture.tree);
        shouldRun(processes, fixture.launcher());
        fixture.edit("second");
        ChildProcess holder = holdLock(processes, built);
        ChildProcess waiting = processes.start(fixture.launcher());
        waiting.awaitErrorLine("waiting for another build");
        Path moved = Files.move(built, folder.resolve("moved"));
        List<Path> before = filesOf(moved);

        holder.standardInput().close();

        assertThat(waiting.awaitExit()).isZero();
        assertThat(waiting.outputLines()).contains("source second second");
        assertThat(fixture.runFolders(fixture.tree)).hasSize(1);
        assertThat(filesOf(moved)).isEqualTo(before);
    }

    private Path buildOfATreeThatHasGone(Processes processes, String name) throws IOException {
        Path other = fixture.makeTree(name);
        assertThat(processes.start(fixture.launcherOf(other)).awaitExit()).isZero();
        Files.move(other, folder.resolve(name + " moved"));
        assertThat(fixture.buildFolder(other)).isDirectory();
        return fixture.buildFolder(other);
    }

    /** Starts a process that holds the lock of a build folder until the end of its input. */
    private static ChildProcess holdLock(Processes processes, Path buildFolder) {
        ChildProcess holder =
                processes.start(
                        new ProcessBuilder(
                                "flock",
                                buildFolder.resolve("lock").toString(),
                                "sh",
                                "-c",
                                "echo held; cat"));
        holder.awaitLine("^held$");
        return holder;
    }

    private static void shouldRun(Processes processes, ProcessBuilder command) {
        ChildProcess start = processes.start(command);
        assertThat(start.awaitExit()).as(start::toString).isZero();
        assertThat(start.outputLines()).contains("source first first");
        assertThat(start.errorLines()).allMatch(line -> line.startsWith("softdpu: "));
    }

    /** Expects one line of error with all parts, and that nothing is built or run. */
    private void shouldRefuse(Processes processes, ProcessBuilder command, String... parts)
            throws IOException {
        List<String> builds = fixture.builds();
        List<Path> before = filesOf(fixture.tree);

        ChildProcess start = processes.start(command);

        assertThat(start.awaitExit()).isEqualTo(1);
        assertThat(start.outputLines()).isEmpty();
        assertThat(start.errorLines()).singleElement().asString().contains(parts);
        assertThat(fixture.builds()).isEqualTo(builds);
        assertThat(filesOf(fixture.tree)).isEqualTo(before);
    }

    private static List<Path> filesOf(Path of) throws IOException {
        try (Stream<Path> files = Files.walk(of)) {
            return files.sorted().toList();
        }
    }
}
