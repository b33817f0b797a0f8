package io.softdpu.fabric.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.UnixSocket;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.OtherUser;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.SwappedFile;
import io.softdpu.testkit.SystemCalls;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Files of the fabric folder that another process of the user has created, or replaces repeatedly.
 */
class FabricFilesTest {
    private static final int USERS = 4;
    private static final byte[] HASH = new byte[32];
    private static final String LINE = HexFormat.of().formatHex(HASH) + " files\n";

    @TempDir Path parent;

    private Path folder;

    @BeforeEach
    void makeFolder() {
        folder = parent.resolve("fabric");
        join().close();
    }

    private FabricFolder join() {
        return FabricFolder.join(new FabricPath(folder, true), HASH, "files", Patience.NANOS);
    }

    @Test
    void shouldReportAFolderAndLeaveItAsItIs() throws IOException {
        FabricPath path = new FabricPath(folder, true);
        Path topology = folder.resolve(FolderEntries.TOPOLOGY_FILE);
        FolderReport used = FolderReport.of(path, false);
        assertThat(used.problem()).isNull();
        assertThat(used.isUnchangedByJoining(false)).isTrue();
        assertThat(folder).isDirectoryNotContaining(file -> !file.equals(topology));

        Path left = Files.createFile(folder.resolve("0123456789abcdef.lock"));
        FolderReport withLeftovers = FolderReport.of(path, false);
        assertThat(withLeftovers.isUnchangedByJoining(false)).isFalse();
        assertThat(withLeftovers.isUnchangedByJoining(true)).isTrue();
        assertThat(left).exists();

        Files.delete(left);
        Files.delete(topology);
        assertThat(FolderReport.of(path, false).isUnchangedByJoining(false)).isFalse();
        assertThat(folder).isEmptyDirectory();
        assertThat(FolderReport.of(new FabricPath(parent.resolve("none"), true), false))
                .returns(false, report -> report.isUnchangedByJoining(false))
                .returns(false, FolderReport::exists);
    }

    /** Things in the place of a file of the fabric. */
    enum Squatter {
        PIPE("it is a pipe, expected=a regular file") {
            @Override
            void take(Path file) {
                NamedPipe.create(file);
            }
        },
        LARGE_FILE("it is too large (3221225472 bytes), expected=at most 4194304 bytes") {
            @Override
            void take(Path file) throws IOException {
                try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
                    sparse.setLength(3L << 30);
                }
            }
        },
        LINK("it is a symbolic link, expected=a regular file") {
            @Override
            void take(Path file) throws IOException {
                Path elsewhere = file.resolveSibling("../elsewhere");
                Files.writeString(elsewhere, LINE);
                Files.createSymbolicLink(file, elsewhere);
            }
        },
        DIRECTORY("it is a directory, expected=a regular file") {
            @Override
            void take(Path file) throws IOException {
                Files.createDirectory(file);
            }
        },
        SOCKET("it is a socket, or a pipe or device without a peer, expected=a regular file") {
            @Override
            void take(Path file) {
                int socket = UnixSocket.create();
                UnixSocket.bind(socket, file.toString());
                FileDescriptors.close(socket);
            }
        },
        DEVICE("it is a character device, expected=a regular file") {
            @Override
            void take(Path file) throws IOException {
                try {
                    SystemCalls.createCharacterDevice(file, 1, 5);
                    new RandomAccessFile(file.toFile(), "r").close();
                } catch (SystemCalls.Failed e) {
                    if (!e.isForbidden()) {
                        throw e;
                    }
                    assumeTrue(false, "no device can be created here: " + e);
                } catch (IOException e) { // as on a file system that is mounted without devices
                    assumeTrue(false, "no device can be opened here: " + e);
                }
            }
        },
        FILE_OF_ANOTHER_USER("it belongs to uid 65534, expected=a file of uid ") {
            @Override
            void take(Path file) throws IOException {
                OtherUser other = OtherUser.nobody();
                other.own(Files.writeString(file, LINE));
            }
        };

        private final String reason;

        Squatter(String reason) {
            this.reason = reason;
        }

        abstract void take(Path file) throws IOException;
    }

    private static void assertRefused(Squatter squatter, Path file, Callable<?> call) {
        assertThatThrownBy(() -> Bounded.call("use of " + file, call))
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.SYSTEM))
                .hasMessageContaining("file=" + file + ", reason=" + squatter.reason)
                .hasMessageEndingWith("; remove it");
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseATopologyThatIsNotAFileOfTheFabric(Squatter squatter) throws Exception {
        Path topology = folder.resolve("topology");
        Files.delete(topology);
        squatter.take(topology);

        assertRefused(squatter, topology, this::join);
    }

    @Test
    void shouldRefuseATopologyThatIsTooLargeWhileItIsLocked() throws Exception {
        Path topology = folder.resolve("topology");
        Squatter.LARGE_FILE.take(topology);
        int locked = FileDescriptors.open(topology.toString(), FileDescriptors.O_RDWR, 0);
        try {
            assertThat(FileDescriptors.tryLockShared(locked)).isTrue();

            assertRefused(Squatter.LARGE_FILE, topology, this::join);
        } finally {
            FileDescriptors.close(locked);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseANoteThatIsNotAFileOfTheFabric(Squatter squatter) throws Exception {
        Path note = folder.resolve("hotplug");
        try (FabricFolder joined = join()) {
            squatter.take(note);

            assertRefused(squatter, note, () -> joined.hotplug().read());
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseALockThatIsNotAFileOfTheFabric(Squatter squatter) throws Exception {
        Path ofNote = folder.resolve("hotplug.lock");
        Path ofName = folder.resolve(FabricFolder.hash("name") + ".lock");
        try (FabricFolder joined = join()) {
            squatter.take(ofNote);
            squatter.take(ofName);

            assertRefused(
                    squatter,
                    ofNote,
                    () -> {
                        joined.hotplug().update(Patience.NANOS, _ -> "changed");
                        return null;
                    });
            assertRefused(squatter, ofName, () -> joined.claim("name"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldLeaveAloneWhatIsNoLockWhenItSweeps(Squatter squatter) throws Exception {
        Path lock = folder.resolve("0123456789abcdef.lock");
        squatter.take(lock);

        FabricFolder joined = Bounded.call("joining", this::join);
        joined.close();

        assertThat(Files.readAttributes(lock, "*", java.nio.file.LinkOption.NOFOLLOW_LINKS))
                .as("still there")
                .isNotEmpty();
    }

    /** Results of a use of a file that is swapped. */
    private enum Outcome {
        DONE,
        NOTHING_THERE,
        REFUSED
    }

    private static final Set<Outcome> WANTED = Set.of(Outcome.DONE, Outcome.REFUSED);

    @Test
    @Tag(Soak.TAG)
    void shouldNeverHangWhileItsFilesAreSwapped(SeededRandom random) throws Exception {
        Duration each =
                Soak.duration(Duration.ofMillis(200), Duration.ofSeconds(4), Duration.ofMinutes(5));
        long start = System.nanoTime();
        Map<Outcome, Long> notes = new ConcurrentSkipListMap<>();
        Map<Outcome, Long> topologies = new ConcurrentSkipListMap<>();
        byte[] text = "plugged in".getBytes(StandardCharsets.UTF_8);
        long noteSwaps;
        try (FabricFolder joined = join();
                SwappedFile swapped = swap("hotplug", text, random)) {
            use(
                    each,
                    notes,
                    () -> {
                        @Nullable String read = joined.hotplug().read();
                        assertThat(read).isIn(null, "plugged in");
                        return read == null ? Outcome.NOTHING_THERE : Outcome.DONE;
                    });
            noteSwaps = swapped.swaps();
        }
        byte[] line = LINE.getBytes(StandardCharsets.UTF_8);
        long topologySwaps;
        try (SwappedFile swapped = swap("topology", line, random)) {
            use(
                    each,
                    topologies,
                    () -> {
                        join().close();
                        return Outcome.DONE;
                    });
            topologySwaps = swapped.swaps();
        }
        Soak.report(
                "swapped-fabric-files",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                Text.format(
                        "noteSwaps=%d, notes=%s, topologySwaps=%d, topologies=%s",
                        noteSwaps, notes, topologySwaps, topologies));
        assertThat(notes.keySet()).containsAll(WANTED);
        assertThat(topologies.keySet()).containsAll(WANTED);
    }

    private SwappedFile swap(String name, byte[] content, SeededRandom random) throws IOException {
        Path aside = Files.createDirectory(parent.resolve("aside-of-" + name));
        return new SwappedFile(folder.resolve(name), aside, content, random.fork());
    }

    /**
     * Uses the file from several threads until the time is over and both outcomes were seen. Of
     * several one is often between two calls when it loses its processor to the swapping.
     */
    private static void use(Duration duration, Map<Outcome, Long> outcomes, Callable<Outcome> use)
            throws Exception {
        long start = System.nanoTime();
        Bounded.callAll(
                "use of a file that is swapped",
                USERS,
                () -> {
                    while (System.nanoTime() - start < duration.toNanos()
                            || !outcomes.keySet().containsAll(WANTED)) {
                        Outcome outcome;
                        try {
                            outcome = use.call();
                        } catch (FabricException e) {
                            assertThat(e.kind())
                                    .as(e.getMessage())
                                    .isEqualTo(FabricException.Kind.SYSTEM);
                            outcome = Outcome.REFUSED;
                        }
                        outcomes.merge(outcome, 1L, Long::sum);
                    }
                    return null;
                });
    }
}
