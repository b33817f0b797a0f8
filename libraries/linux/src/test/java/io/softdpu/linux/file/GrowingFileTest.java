package io.softdpu.linux.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are written piece by piece. */
class GrowingFileTest {
    @TempDir Path folder;

    private static MemorySegment piece(Arena arena, String text) {
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void shouldHaveAllPiecesInTheirOrder() throws IOException {
        Path file = folder.resolve("new");
        try (Arena arena = Arena.ofConfined();
                GrowingFile made = GrowingFile.create(file)) {
            made.append(piece(arena, "one "));
            made.append(piece(arena, "two"));
            assertThat(file).as("while it is open").hasContent("one two");
        }
        assertThat(file).hasContent("one two");
    }

    @Test
    void shouldTakeNothingOnceItIsClosed() throws IOException {
        Path file = folder.resolve("closed");
        GrowingFile made = GrowingFile.create(file);
        made.close();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment piece = piece(arena, "late");
            assertThatThrownBy(() -> made.append(piece))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("file is closed");
        }
        assertThat(file).isEmptyFile();
    }

    @Test
    void shouldEmptyARegularFile() throws IOException {
        Path file = Files.writeString(folder.resolve("old"), "what was there before");
        try (Arena arena = Arena.ofConfined();
                GrowingFile made = GrowingFile.create(file)) {
            assertThat(file).isEmptyFile();
            made.append(piece(arena, "new"));
        }
        assertThat(file).hasContent("new");
    }

    @Test
    void shouldRefuseAFileThatIsBeingWrittenUntilItIsClosed() throws IOException {
        Path file = folder.resolve("shared");
        try (Arena arena = Arena.ofConfined()) {
            try (GrowingFile made = GrowingFile.create(file)) {
                made.append(piece(arena, "kept"));
                assertThatThrownBy(() -> GrowingFile.create(file))
                        .isInstanceOf(FileRefusedException.class)
                        .hasMessageContaining("file=" + file + ", reason=a program is writing it");
                assertThat(file).hasContent("kept");
                made.append(piece(arena, " on"));
            }
            assertThat(file).hasContent("kept on");
            try (GrowingFile next = GrowingFile.create(file)) {
                next.append(piece(arena, "next"));
            }
        }
        assertThat(file).hasContent("next");
    }

    /** The limit of the process cuts the third piece, as a full disk would. */
    @Test
    @StartsProcesses
    void shouldHaveWholePiecesAloneWhereOneCannotBeWritten(Processes processes) {
        Path file = folder.resolve("full");
        ChildProcess writer =
                processes.start(
                        JavaCommand.ofClass(Writer.class)
                                .withJvmOptions("-XX:-UsePerfData")
                                .withArguments(file.toString())
                                .behind("prlimit", "--fsize=262144"));

        assertThat(writer.awaitExit()).as("%s", writer.errorLines()).isZero();
        assertThat(writer.outputLines()).containsExactly("bytes=200000 EFBIG");
        assertThat(file).hasSize(200_000);
    }

    /** Appends pieces to a file until it cannot. */
    static final class Writer {
        private static final int PIECE_BYTES = 100_000;

        private Writer() {}

        public static void main(String[] arguments) throws IOException {
            long written = 0;
            try (Arena arena = Arena.ofConfined();
                    GrowingFile made = GrowingFile.create(Path.of(arguments[0]))) {
                MemorySegment piece = arena.allocate(PIECE_BYTES);
                while (true) {
                    made.append(piece);
                    written += PIECE_BYTES;
                }
            } catch (FileSystemException e) {
                String reason = String.valueOf(e.getReason());
                System.out.println(
                        "bytes=" + written + " " + reason.substring(reason.lastIndexOf(' ') + 1));
            }
        }
    }

    @Test
    void shouldRefuseWhatIsNoRegularFile() throws IOException {
        Path target = Files.writeString(folder.resolve("target"), "kept");
        Path link = Files.createSymbolicLink(folder.resolve("link"), target);

        assertThatThrownBy(() -> GrowingFile.create(link))
                .isInstanceOf(FileRefusedException.class)
                .hasMessageContaining("symbolic link");
        assertThatThrownBy(() -> GrowingFile.create(folder))
                .isInstanceOf(FileRefusedException.class);
        assertThatThrownBy(() -> GrowingFile.create(folder.resolve("none/file")))
                .isInstanceOfAny(FileRefusedException.class, NoSuchFileException.class);
        assertThat(target).hasContent("kept");
    }
}
