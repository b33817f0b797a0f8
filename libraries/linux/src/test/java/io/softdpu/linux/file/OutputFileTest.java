package io.softdpu.linux.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.linux.Identity;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.SeededRandom;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of files that are replaced and removed. */
class OutputFileTest {
    private static final int MAGIC = 0x41424344; // "ABCD"
    private static final String THESIS = "of years";

    @TempDir Path folder;

    private Path file;
    private Path other;

    @BeforeEach
    void nameFiles() throws IOException {
        file = folder.resolve("file");
        other = Files.writeString(folder.resolve("thesis.txt"), THESIS);
    }

    /** Whatever a test does: no part is left, and nothing is done to another file. */
    @AfterEach
    void assertNothingElseChanged() throws IOException {
        assertThat(other).hasContent(THESIS);
        try (Stream<Path> all = Files.list(folder)) {
            assertThat(all).noneMatch(each -> each.toString().endsWith(".part"));
        }
    }

    private OutputFile output() {
        return output(file);
    }

    private static OutputFile output(Path file) {
        return new OutputFile(file, "a descriptor", Set.of(MAGIC, 1));
    }

    private static MemorySegment bytes(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    private static void assertRefused(Path file, String reason, ThrowingCallable call) {
        assertThatThrownBy(() ->
                        Bounded.call(
                                "writing " + file,
                                () -> {
                                    try {
                                        call.call();
                                    } catch (IOException e) {
                                        throw e;
                                    } catch (Throwable e) {
                                        throw new AssertionError(e);
                                    }
                                    return null;
                                }))
                .isInstanceOf(FileRefusedException.class)
                .hasMessageStartingWith("file refused: file=" + file + ", reason=" + reason);
    }

    private static void assertRefusedByAll(Path file, String reason) {
        assertRefused(file, reason, () -> OutputFile.requireReplaceable(file));
        assertRefused(file, reason, () -> OutputFile.replace(file, bytes("new")));
        try (OutputFile output = output(file)) {
            assertRefused(file, reason, output::removeReplaceable);
            assertRefused(file, reason, () -> output.write(bytes("ABCD new")));
        } catch (IOException e) {
            throw new AssertionError("what was not written is not removed", e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ABCD", "ABCD of an earlier run", "\0\0\0\1 of another kind"})
    void shouldRemoveAndReplaceAnEmptyFileAndOneOfItsKind(String content) throws IOException {
        Files.writeString(file, content);
        try (OutputFile output = output()) {
            output.removeReplaceable();
            assertThat(file).doesNotExist();
            Files.writeString(file, content);
            output.write(bytes("new"));
            assertThat(file).hasContent("new");
            output.write(bytes("its own, which is of no kind"));
            assertThat(file).hasContent("its own, which is of no kind");
        }
        assertThat(file).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"A", "ABC", "ABCE", "abcd", " ABCD", "DCBA", "any text", "\0\0\0\0"})
    void shouldKeepAFileOfAnotherContentAndTellHowItBegins(String content) throws IOException {
        Files.writeString(file, content);
        try (OutputFile output = output()) {
            String reason = "it has another content (bytes=" + content.length();
            assertRefused(file, reason, output::removeReplaceable);
            assertRefused(file, reason, () -> output.write(bytes("ABCD new")));
        }
        assertThat(file).hasContent(content);
        assertThatThrownBy(() -> output(other).removeReplaceable())
                .hasMessage(
                        "file refused: file="
                                + other
                                + ", reason=it has another content (bytes=8, beginning with"
                                + " 6f662079), expected=no file, an empty one, or a descriptor");
    }

    @Test
    void shouldRefuseWhatIsNoRegularFileAndFollowNoLink() throws IOException {
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe"))) {
            assertRefusedByAll(pipe.path(), "it is a pipe");
            assertThat(pipe.path()).exists();
        }
        Path directory = Files.createDirectory(folder.resolve("directory"));
        assertRefusedByAll(directory, "it is a directory");
        assertRefusedByAll(Path.of("/dev/full"), "it is a character device");
        Path descriptor = Files.writeString(folder.resolve("descriptor"), "ABCD");
        for (Path target : new Path[] {other, descriptor, directory, folder.resolve("none")}) {
            Path link = Files.createSymbolicLink(folder.resolve("link"), target);
            assertRefusedByAll(link, "it is a symbolic link");
            assertThat(link).isSymbolicLink();
            Files.delete(link);
        }
        assertThat(descriptor).hasContent("ABCD");
        assertThat(folder.resolve("none")).doesNotExist();
        assertRefusedByAll(folder.resolve("no/file"), "its folder does not exist");
        assertRefusedByAll(other.resolve("file"), "its folder does not exist");
    }

    @Test
    void shouldRemoveNothingButTheFileThatWasWritten() throws IOException {
        try (OutputFile output = output()) {
            output.write(bytes("ABCD"));
            Path fresh = Files.writeString(folder.resolve("fresh"), "ABCD of the user");
            Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING);
        }
        assertThat(file).as("of the same kind, but not the same").hasContent("ABCD of the user");
        try (OutputFile output = output()) {
            output.write(bytes("ABCD"));
            Files.delete(file);
            Files.createSymbolicLink(file, other);
        }
        assertThat(file).isSymbolicLink();
        Files.delete(file);
        Path moved = folder.resolve("moved");
        try (OutputFile output = output()) {
            output.write(bytes("ABCD"));
            Files.move(file, moved);
            Files.createDirectory(file);
        }
        assertThat(file).isDirectory();
        assertThat(moved).hasContent("ABCD");
        Files.delete(file);
        try (OutputFile output = output()) {
            output.write(bytes("ABCD"));
            Files.delete(file); // by its reader
        }
        try (OutputFile output = output()) {
            output.removeReplaceable();
            Files.writeString(file, "ABCD of another process");
        }
        assertThat(file).as("nothing was written").exists();
    }

    @Test
    void shouldReplaceARegularFileOfAnyContentAndKeepItsPermissions(SeededRandom random)
            throws IOException {
        byte[] content = random.bytes(700_001);
        OutputFile.replace(file, MemorySegment.ofArray(content));
        assertThat(file).hasBinaryContent(content);
        for (String permissions : new String[] {"rw-------", "rwxrw-rw-"}) {
            Files.writeString(file, "any text, longer than what follows");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
            try (Arena arena = Arena.ofConfined()) {
                OutputFile.requireReplaceable(file);
                OutputFile.replace(file, arena.allocateFrom("short"));
            }
            assertThat(file).hasContent("short\0");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo(permissions);
        }
        try (OutputFile output = output(folder.resolve("descriptor"))) {
            output.write(bytes("key"));
            assertThat(Files.getPosixFilePermissions(folder.resolve("descriptor")))
                    .isEqualTo(PosixFilePermissions.fromString("rw-------"));
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
        if (!Files.isWritable(file)) { // root may write to it
            assertRefused(
                    file,
                    "this user may not write to it",
                    () -> OutputFile.replace(file, bytes("new")));
        }
    }

    /** A file that another user shares stays that user's. */
    @Test
    void shouldOverwriteAFileOfAnotherUser() throws IOException {
        if (Identity.effectiveUid() != 0) {
            String reason = "files cannot be given to another user here";
            System.err.println("SKIPPED, NOT SHOWN HERE: " + reason);
            Assumptions.abort(reason);
        }
        Files.writeString(file, "any text, longer than what follows");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw----"));
        Files.setAttribute(file, "unix:uid", 65534);
        Object inode = Files.getAttribute(file, "unix:ino");

        OutputFile.replace(file, bytes("new"));

        assertThat(file).hasContent("new");
        assertThat(Files.getAttribute(file, "unix:uid")).isEqualTo(65534);
        assertThat(Files.getAttribute(file, "unix:ino")).isEqualTo(inode);
    }

    /** The kernel writes the first page, and finds no second one: as with a disk that is full. */
    @Test
    void shouldKeepWhatWasThereWhereAWriteFailsInTheMiddle() throws IOException {
        int page = 4096;
        Path source = folder.resolve("source");
        try (FileChannel channel =
                        FileChannel.open(
                                source,
                                StandardOpenOption.CREATE_NEW,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE);
                Arena arena = Arena.ofConfined()) {
            channel.write(ByteBuffer.allocate(1), 2 * page - 1);
            MemorySegment content = channel.map(FileChannel.MapMode.READ_ONLY, 0, 2 * page, arena);
            channel.truncate(page);

            assertWriteFails(() -> OutputFile.replace(file, content));
            assertThat(file).doesNotExist();
            Files.writeString(file, "ABCD before");
            assertWriteFails(() -> OutputFile.replace(file, content));
            assertThat(file).hasContent("ABCD before");
            Path descriptor = Files.writeString(folder.resolve("descriptor"), "ABCD earlier");
            try (OutputFile output = output(descriptor)) {
                assertWriteFails(() -> output.write(content));
                assertThat(descriptor).hasContent("ABCD earlier");
                output.write(bytes("its own"));
                assertWriteFails(() -> output.write(content));
                assertThat(descriptor).hasContent("its own");
            }
        }
        assertThat(Files.exists(folder.resolve("descriptor"), LinkOption.NOFOLLOW_LINKS)).isFalse();
    }

    private void assertWriteFails(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(FileSystemException.class)
                .hasMessageStartingWith(folder.toString())
                .hasMessageContaining("EFAULT")
                .hasMessageNotContaining(".part");
    }
}
