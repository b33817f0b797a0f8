package io.softdpu.fabric.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of folders that hold files of other programs. */
class FolderEntriesTest {

    /** The entries of a folder that are looked at. */
    private static final int READ_ENTRIES = 4096;

    private static final int MANY_FILES = 5000;

    @TempDir Path parent;

    private Path folder;

    @BeforeEach
    void makeFolder() throws IOException {
        folder = Files.createDirectory(parent.resolve("fabric"));
    }

    private FabricFolder join() {
        return FabricFolder.join(
                new FabricPath(folder, true), new byte[32], "entries", Patience.NANOS);
    }

    private Stream<String> entries() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList().stream();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "passwd",
                "yarn.lock",
                "topology.json",
                "topology.lock",
                "hotplug.old",
                "0123456789abcdef",
                "0123456789abcdef.txt",
                "0123456789ABCDEF.lock",
                "00123456789abcdef.sock",
                ".hidden",
                "lost+found",
                ".nfs",
                ".nfs00000000000000",
                ".nfs0123456789abcdef00000001.txt"
            })
    void shouldRefuseAFolderWithAFileOfAnotherProgramAndWriteNothing(String name)
            throws IOException {
        Files.createFile(folder.resolve(name));

        assertThatThrownBy(this::join)
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.NOT_PERMITTED))
                .hasMessage(
                        "fabric folder holds a file that is not the fabric's: path="
                                + folder
                                + ", file="
                                + name
                                + ", expected=a folder for the fabric alone; set SOFTDPU_FABRIC to"
                                + " a new one");
        assertThat(entries()).containsExactly(name);
    }

    @Test
    void shouldRefuseAFolderWithAFolderOfAnotherProgram() throws IOException {
        Files.createDirectory(folder.resolve("projects"));

        assertThatThrownBy(this::join).hasMessageContaining("file=projects");
        assertThat(entries()).containsExactly("projects");
    }

    @Test
    void shouldAcceptWhatAFileSystemCreates() throws IOException {
        Files.createDirectory(folder.resolve("lost+found"));
        Files.createFile(folder.resolve(".nfs0123456789abcdef00000001"));

        try (FabricFolder joined = join()) {
            assertThat(joined.path()).isEqualTo(folder);
        }
        assertThat(entries()).contains("lost+found", ".nfs0123456789abcdef00000001");
    }

    @Test
    void shouldRefuseLinksWithNamesOfAFileSystem() throws IOException {
        for (String name : List.of("lost+found", ".nfs0123456789abcdef00000001")) {
            Path link = Files.createSymbolicLink(folder.resolve(name), parent);

            assertThatThrownBy(this::join).hasMessageContaining("file=" + name);
            Files.delete(link);
        }
    }

    @Test
    void shouldEscapeTheNameOfTheFile() throws IOException {
        Files.createFile(folder.resolve("a\u001b[2Jb\nsoftdpu: done"));

        assertThatThrownBy(this::join)
                .hasMessageNotContainingAny("\u001b", "\n")
                .hasMessageContaining("[2Jb");
    }

    @Test
    void shouldAcceptAllFilesThatSoftdpuCreates() throws IOException {
        try (FabricFolder joined = join()) {
            int lock = joined.claim("served");
            joined.hotplug().update(Patience.NANOS, _ -> "plugged in");
            Files.createFile(folder.resolve("hotplug.new")); // of a process that was killed
            Files.createFile(folder.resolve(FabricFolder.hash("served") + ".sock"));
            try (FabricFolder second = join()) {
                assertThat(second.id()).isEqualTo(joined.id());
            }
            FileDescriptors.close(lock);
        }
    }

    /** Of many own files only a part is read: a foreign one that is listed after it is not seen. */
    @Test
    void shouldEndEarlyInAHugeFolder() throws Exception {
        Path foreign = Files.createFile(folder.resolve("file"));
        assertThat(FolderEntries.firstForeign(folder)).contains("file");
        for (int i = 0; i < MANY_FILES; i++) {
            Files.createFile(folder.resolve(Text.format("%016x.sock", i)));
        }
        // File systems list the newest first, or last, or in the order of hashes.
        for (int i = 0; position(foreign) < READ_ENTRIES; i++) {
            assertThat(i).as("files without one that is listed late").isLessThan(MANY_FILES);
            Path next = Files.createFile(folder.resolve("file" + i));
            Files.delete(foreign);
            foreign = next;
        }
        assertThat(FolderEntries.firstForeign(folder)).isEmpty();
    }

    /** How many entries are listed before a file. */
    private int position(Path file) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList().indexOf(file);
        }
    }
}
