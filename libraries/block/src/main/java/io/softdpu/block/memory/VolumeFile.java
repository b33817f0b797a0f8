package io.softdpu.block.memory;

import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Regular file whose bytes a device in memory is a copy of. It is read once and never written. Any
 * thread.
 */
public final class VolumeFile {
    /** The largest number of blocks of a binary content: what its header can say. */
    public static final long MAX_BLOCK_COUNT = 0xFFFF_FFFFL;

    private VolumeFile() {}

    /**
     * Opens a device with a copy of a file.
     *
     * @throws DpuException that names the file, the reason and the expected value: NOT_FOUND if it
     *     does not exist; INVALID_VALUE if it is not a regular file, is empty, or its size is not a
     *     multiple of the block size; NOT_PERMITTED if it may not be read; IO_FAILED if reading
     *     fails; NO_MEMORY
     */
    static ProviderDevice copy(Path file, int blockSizeBytes) {
        return read(
                file,
                blockSizeBytes,
                opened -> load(file, opened, 0, opened.sizeBytes(), blockSizeBytes));
    }

    /**
     * Opens a device with a copy of a binary content: of an {@link SbcHeader .sbc} file, which is
     * known by its first bytes and has the sizes in its header, or of a raw file of exactly {@code
     * blockCount x blockSizeBytes} bytes.
     *
     * @param blockSizeBytes bytes of a block of a raw file
     * @param blockCount blocks of a raw file, 1 to 2^32 - 1
     * @throws DpuException as for {@link #copy}; INVALID_VALUE, naming field and offset, for a
     *     header that does not fit its file
     */
    public static ProviderDevice binaryContent(Path file, int blockSizeBytes, long blockCount) {
        BlockProperties.requireBlockSize(blockSizeBytes);
        if (blockCount < 1 || blockCount > MAX_BLOCK_COUNT) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "number of blocks is illegal: blockCount="
                            + blockCount
                            + ", expected=1 to "
                            + MAX_BLOCK_COUNT);
        }
        return open(
                file,
                opened -> {
                    SbcHeader header = readHeader(file, opened);
                    if (header != null) {
                        return load(
                                file,
                                opened,
                                SbcHeader.SIZE_BYTES,
                                header.blockCount() * header.blockSizeBytes(),
                                header.blockSizeBytes());
                    }
                    long expected = blockCount * blockSizeBytes;
                    if (opened.sizeBytes() != expected) {
                        throw refused(
                                Status.INVALID_VALUE,
                                file,
                                "it is no .sbc file and has another size, sizeBytes="
                                        + opened.sizeBytes(),
                                expected + " (" + blockCount + " blocks of " + blockSizeBytes + ")",
                                null);
                    }
                    return load(file, opened, 0, expected, blockSizeBytes);
                });
    }

    private static @Nullable SbcHeader readHeader(Path file, CheckedFile opened)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment first = arena.allocate(SbcHeader.SIZE_BYTES);
            long done = opened.read(first, 0);
            return SbcHeader.parse(
                    file,
                    first.asSlice(0, done).toArray(ValueLayout.JAVA_BYTE),
                    opened.sizeBytes());
        }
    }

    /**
     * The size in bytes that the copy of this file would have, without loading it.
     *
     * @throws DpuException as for {@link #copy}
     */
    public static long sizeOf(Path file, int blockSizeBytes) {
        BlockProperties.requireBlockSize(blockSizeBytes);
        return read(file, blockSizeBytes, CheckedFile::sizeBytes);
    }

    /** Reads a result from a file that was checked to be a legal volume. */
    private interface FileReader<T> {
        T read(CheckedFile opened) throws IOException;
    }

    private static <T> T read(Path file, int blockSizeBytes, FileReader<T> reader) {
        return open(
                file,
                opened -> {
                    long size = opened.sizeBytes();
                    if (size == 0) {
                        throw refused(
                                Status.INVALID_VALUE,
                                file,
                                "it is empty",
                                "at least one block",
                                null);
                    }
                    if (size % blockSizeBytes != 0) {
                        throw refused(
                                Status.INVALID_VALUE,
                                file,
                                "its size is no multiple of the block size, sizeBytes=" + size,
                                "a multiple of " + blockSizeBytes,
                                null);
                    }
                    return reader.read(opened);
                });
    }

    private static <T> T open(Path file, FileReader<T> reader) {
        try (CheckedFile opened = CheckedFile.open(file, FilePolicy.USER_DATA)) {
            return reader.read(opened);
        } catch (FileRefusedException e) {
            throw refused(Status.INVALID_VALUE, file, e.reason(), e.expected(), e);
        } catch (AccessDeniedException e) {
            throw refused(
                    Status.NOT_PERMITTED, file, "this user may not read it", "a readable file", e);
        } catch (NoSuchFileException e) {
            throw refused(Status.NOT_FOUND, file, "it does not exist", "a regular file", e);
        } catch (IOException e) {
            throw new DpuException(
                    Status.IO_FAILED,
                    "volume file cannot be read: file=" + file + ", reason=" + Reason.of(e),
                    e);
        }
    }

    private static ProviderDevice load(
            Path file, CheckedFile opened, long offset, long sizeBytes, int blockSizeBytes)
            throws IOException {
        String description = "copy:" + file;
        LocalMemory memory = MemoryDevice.allocate(sizeBytes, description);
        boolean loaded = false;
        try {
            long done = opened.read(memory.segment().asSlice(0, sizeBytes), offset);
            if (done < sizeBytes) {
                throw refused(
                        Status.IO_FAILED,
                        file,
                        "it ended while it was read, atBytes=" + (offset + done),
                        offset + sizeBytes + " bytes",
                        null);
            }
            ProviderDevice device =
                    new MemoryDevice(memory, blockSizeBytes, description, BlockIdentity.random());
            loaded = true;
            return device;
        } finally {
            if (!loaded) {
                memory.close();
            }
        }
    }

    private static DpuException refused(
            Status status, Path file, String reason, String expected, @Nullable Throwable cause) {
        return new DpuException(
                status,
                "volume file is refused: file="
                        + file
                        + ", reason="
                        + reason
                        + ", expected="
                        + expected,
                cause);
    }
}
