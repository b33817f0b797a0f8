package io.softdpu.linux.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.OtherUser;
import io.softdpu.testkit.SeededRandom;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CheckedFileTest {

    @TempDir Path folder;

    private static void assertRefused(Path file, FilePolicy policy, String why) {
        assertThatThrownBy(() ->
                        Bounded.call("reading " + file, () -> CheckedFile.readAll(file, policy)))
                .isInstanceOf(FileRefusedException.class)
                .hasMessage("file refused: file=" + file + ", " + why);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseWhatIsNoRegularFileWithoutWaiting(FilePolicy policy) throws IOException {
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe"))) {
            assertRefused(pipe.path(), policy, "reason=it is a pipe, expected=" + types(policy));
        }
        assertRefused(folder, policy, "reason=it is a directory, expected=" + types(policy));
        assertRefused(
                Path.of("/dev/zero"),
                policy,
                "reason=it is a character device, expected=" + types(policy));
    }

    private static String types(FilePolicy policy) {
        return policy == FilePolicy.USER_VOLUME
                ? "a regular file or a block device"
                : "a regular file";
    }

    @Test
    void shouldOpenAVolumeThroughALinkSoThatCallsWait() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "text");
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);

        try (CheckedFile opened = CheckedFile.openVolume(link, true)) {
            assertThat(opened.sizeBytes()).isEqualTo(4);
            assertThat(flags(opened.descriptor()) & 3).isEqualTo(FileDescriptors.O_RDWR);
            assertThat(flags(opened.descriptor()) & FileDescriptors.O_NONBLOCK).isZero();
        }
        try (CheckedFile opened = CheckedFile.openVolume(link, false)) {
            assertThat(flags(opened.descriptor()) & 3).isEqualTo(FileDescriptors.O_RDONLY);
        }
        assertThatThrownBy(() -> CheckedFile.openVolume(folder, false))
                .isInstanceOf(FileRefusedException.class)
                .hasMessageEndingWith("expected=a regular file or a block device");
    }

    @Test
    void shouldRefuseABlockDeviceThatIsMounted() throws IOException {
        Optional<Path> mounted;
        try (Stream<String> mounts = Files.lines(Path.of("/proc/self/mounts"))) {
            mounted =
                    mounts.map(line -> line.substring(0, line.indexOf(' ')))
                            .filter(source -> source.startsWith("/dev/"))
                            .map(Path::of)
                            .filter(Files::isReadable)
                            .findFirst();
        }
        Assumptions.assumeTrue(mounted.isPresent(), "no mounted device may be read here");
        Path device = mounted.get();
        try {
            CheckedFile.readAll(device, FilePolicy.USER_DATA);
        } catch (AccessDeniedException e) { // as by the cgroup of a container
            Assumptions.abort(e.getMessage() + " may not be opened here");
        } catch (FileRefusedException e) {
            assertThat(e)
                    .hasMessageEndingWith("reason=it is a block device, expected=a regular file");
        }

        assertThatThrownBy(() -> CheckedFile.openVolume(device, false))
                .isInstanceOf(FileSystemException.class)
                .hasMessage(device + ": the system or another process uses it")
                .cause()
                .isInstanceOfSatisfying(
                        LinuxException.class,
                        cause -> assertThat(cause.errno()).isEqualTo(Errno.EBUSY));
    }

    private static int flags(int fd) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/fdinfo/" + fd))) {
            if (line.startsWith("flags:")) {
                return Integer.parseInt(line.substring("flags:".length()).strip(), 8);
            }
        }
        throw new AssertionError("no flags in /proc/self/fdinfo/" + fd);
    }

    @Test
    void shouldFollowALinkThatTheUserNamesAndNoOther() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "text");
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);

        assertThat(CheckedFile.readText(link, FilePolicy.USER_TEXT)).isEqualTo("text");
        assertThat(CheckedFile.readAll(link, FilePolicy.USER_DATA)).hasSize(4);
        assertRefused(
                link,
                FilePolicy.SHARED_FOLDER,
                "reason=it is a symbolic link, expected=a regular file");
        assertThat(file).hasContent("text");
    }

    @Test
    void shouldReadAFileOfAnotherUserWhereTheUserNamesItAlone() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "text");
        OtherUser other = OtherUser.nobody();
        other.own(file);

        assertThat(CheckedFile.readText(file, FilePolicy.USER_TEXT)).isEqualTo("text");
        assertRefused(
                file,
                FilePolicy.SHARED_FOLDER,
                "reason=it belongs to uid " + other.uid() + ", expected=a file of uid 0");
    }

    @Test
    void shouldReadTextUpToTheLimitAndDataOfAnySize(SeededRandom random) throws IOException {
        byte[] most = random.bytes(FilePolicy.MAX_TEXT_BYTES);
        Path file = Files.write(folder.resolve("file"), most);
        for (FilePolicy policy : FilePolicy.values()) {
            assertThat(CheckedFile.readAll(file, policy)).isEqualTo(most);
        }
        long large = 3L << 30;
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(large);
        }
        String why = "reason=it is too large (3221225472 bytes), expected=at most 4194304 bytes";
        assertRefused(file, FilePolicy.SHARED_FOLDER, why);
        assertRefused(file, FilePolicy.USER_TEXT, why);
        try (CheckedFile opened = CheckedFile.open(file, FilePolicy.USER_DATA);
                Arena arena = Arena.ofConfined()) {
            assertThat(opened.sizeBytes()).isEqualTo(large);
            MemorySegment end = arena.allocate(8);
            assertThat(opened.read(end, large - 3)).isEqualTo(3);
        }
    }

    @Test
    void shouldReadNoMoreThanTheLimitOfAFileThatGrows() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "small");
        try (CheckedFile opened = CheckedFile.open(file, FilePolicy.USER_TEXT)) {
            try (RandomAccessFile growing = new RandomAccessFile(file.toFile(), "rw")) {
                growing.setLength(FilePolicy.MAX_TEXT_BYTES + 1L);
            }
            assertThatThrownBy(opened::readAll)
                    .isInstanceOf(FileRefusedException.class)
                    .hasMessageContaining("more than 4194304 bytes");
        }
    }

    @Test
    void shouldStayWithTheFileThatWasExamined() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "examined");
        try (CheckedFile opened = CheckedFile.open(file, FilePolicy.SHARED_FOLDER)) {
            Files.delete(file);
            Files.writeString(file, "another");
            assertThat(opened.readText()).isEqualTo("examined");
        }
    }

    @Test
    void shouldFillNativeMemoryAndArraysFromAnyOffset(SeededRandom random) throws IOException {
        byte[] content = random.bytes(700_001);
        Path file = Files.write(folder.resolve("file"), content);
        try (CheckedFile opened = CheckedFile.open(file, FilePolicy.USER_DATA);
                Arena arena = Arena.ofConfined()) {
            for (MemorySegment into :
                    new MemorySegment[] {
                        arena.allocate(600_000), MemorySegment.ofArray(new byte[600_000])
                    }) {
                assertThat(opened.read(into, 100_000)).isEqualTo(600_000);
                assertThat(into.toArray(ValueLayout.JAVA_BYTE))
                        .isEqualTo(Arrays.copyOfRange(content, 100_000, 700_000));
                assertThat(opened.read(into, 700_000)).isEqualTo(1);
                assertThat(opened.read(into, 700_001)).isZero();
            }
        }
    }

    @Test
    void shouldWriteANewFileAndInPlaceOfItsContent(SeededRandom random) throws IOException {
        byte[] content = random.bytes(700_001);
        Path file = folder.resolve("file");
        try (CheckedFile made = CheckedFile.create(file, file, 0600);
                Arena arena = Arena.ofConfined()) {
            made.replaceContent(MemorySegment.ofArray(content));
            assertThat(file).hasBinaryContent(content);
            made.replaceContent(arena.allocateFrom("short"));
            assertThat(file).hasContent("short\0");
            made.replaceContent(MemorySegment.ofArray(new byte[0]));
            assertThat(file).isEmptyFile();
        }
    }

    @Test
    void shouldThrowWhatFilesWouldThrow() throws IOException {
        Path missing = folder.resolve("missing");
        assertThatThrownBy(() -> CheckedFile.readAll(missing, FilePolicy.USER_TEXT))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(missing.toString());
        Path file = Files.write(folder.resolve("file"), new byte[] {'a', (byte) 0xff});
        assertThatThrownBy(() -> CheckedFile.readText(file, FilePolicy.USER_TEXT))
                .isInstanceOf(CharacterCodingException.class);
        assertThatThrownBy(() -> CheckedFile.readAll(file.resolve("x"), FilePolicy.USER_TEXT))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("ENOTDIR");
        assertThatThrownBy(() -> CheckedFile.readAll(Path.of(""), FilePolicy.USER_TEXT))
                .isInstanceOf(FileRefusedException.class)
                .hasMessageContaining("it is a directory");
    }

    /** Of a file whose name is not UTF-8, as a list of its folder has it. */
    @Test
    void shouldRefuseANameThatIsNotThatOfTheFile() {
        Path other;
        try {
            other = folder.resolve("f\uFFFDb");
        } catch (InvalidPathException e) {
            String reason = "this JVM has no UTF-8 for names: " + e.getReason();
            System.err.println("SKIPPED, NOT SHOWN HERE: " + reason);
            Assumptions.abort(reason);
            return;
        }
        assertThatThrownBy(() -> CheckedFile.readAll(other, FilePolicy.USER_TEXT))
                .isInstanceOf(FileRefusedException.class)
                .hasMessageContaining("its name cannot be represented");
    }

    @Test
    void shouldRefuseAPathThatTheKernelDoesNotKnow() throws IOException {
        Path archive = folder.resolve("archive.zip");
        try (FileSystem zip = FileSystems.newFileSystem(archive, Map.of("create", "true"))) {
            Path inside = Files.writeString(zip.getPath("/inside"), "text");
            assertThatThrownBy(() -> CheckedFile.readAll(inside, FilePolicy.USER_TEXT))
                    .isInstanceOf(FileRefusedException.class)
                    .hasMessageContaining("expected=a path of this machine");
        }
    }
}
