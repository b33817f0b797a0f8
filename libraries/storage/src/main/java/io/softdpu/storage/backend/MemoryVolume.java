package io.softdpu.storage.backend;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.text.Reason;
import io.softdpu.storage.option.OptionChecks;
import io.softdpu.storage.workload.Content;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Volume in memory: a pattern, or a copy of a file, which is read once and never written. */
public final class MemoryVolume implements Volume {
    /** The smallest block in bytes. */
    public static final int MIN_BLOCK_SIZE_BYTES = 512;

    /** The largest block in bytes. */
    public static final int MAX_BLOCK_SIZE_BYTES = 1 << 20;

    /** The largest number of blocks of a binary content: what its header can say. */
    public static final long MAX_BLOCK_COUNT = 0xFFFF_FFFFL;

    /** For messages. */
    static final String LEGAL_BLOCK_SIZES =
            "a power of two from " + MIN_BLOCK_SIZE_BYTES + " to " + MAX_BLOCK_SIZE_BYTES;

    private final LocalMemory memory;
    private final int blockSizeBytes;
    private final String description;
    private @Nullable Mmap mmap;
    private boolean closed;

    private MemoryVolume(LocalMemory memory, int blockSizeBytes, String description) {
        this.memory = memory;
        this.blockSizeBytes = blockSizeBytes;
        this.description = description;
    }

    /**
     * Creates a volume with the pattern of {@link Content#VOLUME_PATTERN_SEED}.
     *
     * @throws DpuException INVALID_VALUE for an illegal size or block size, NO_MEMORY
     */
    public static MemoryVolume ofPattern(long sizeBytes, int blockSizeBytes) {
        return ofContent(Content.pattern(Content.VOLUME_PATTERN_SEED), sizeBytes, blockSizeBytes);
    }

    /**
     * Creates a volume with this content.
     *
     * @throws DpuException INVALID_VALUE for an illegal size or block size, NO_MEMORY; exceptions
     *     of the content
     */
    public static MemoryVolume ofContent(Content content, long sizeBytes, int blockSizeBytes) {
        checkBlockSize(blockSizeBytes);
        if (sizeBytes <= 0 || sizeBytes % blockSizeBytes != 0) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "volume size is illegal: sizeBytes="
                            + sizeBytes
                            + ", expected=a positive multiple of blockSizeBytes="
                            + blockSizeBytes);
        }
        String description = "memory:" + sizeBytes + " " + content;
        LocalMemory memory = allocate(sizeBytes, description);
        try {
            content.fill(memory.segment(), 0);
            return new MemoryVolume(memory, blockSizeBytes, description);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /**
     * Creates a volume with a copy of a file. Writes to the volume do not change the file.
     *
     * @throws DpuException that names the file, the reason and the expected value: NOT_FOUND if it
     *     does not exist; INVALID_VALUE if it is not a regular file, is empty, or its size is not a
     *     multiple of the block size; NOT_PERMITTED if it may not be read; IO_FAILED if reading
     *     fails; NO_MEMORY
     */
    public static MemoryVolume fromFile(Path file, int blockSizeBytes) {
        return read(
                file,
                blockSizeBytes,
                opened -> load(file, opened, 0, opened.sizeBytes(), blockSizeBytes));
    }

    /**
     * Creates a volume with a copy of a binary content: of an {@link SbcHeader .sbc} file, which is
     * known by its first bytes and has the sizes in its header, or of a raw file of exactly {@code
     * blockCount x blockSizeBytes} bytes.
     *
     * @param blockSizeBytes bytes of a block of a raw file
     * @param blockCount blocks of a raw file, 1 to 2^32 - 1
     * @throws DpuException as for {@link #fromFile}; INVALID_VALUE, naming field and offset, for a
     *     header that does not fit its file
     */
    public static MemoryVolume fromBinaryContent(Path file, int blockSizeBytes, long blockCount) {
        checkBlockSize(blockSizeBytes);
        OptionChecks.requireRange("blockCount", blockCount, 1, MAX_BLOCK_COUNT);
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
     * The size in bytes that a volume of this file would have, without loading it.
     *
     * @throws DpuException as for {@link #fromFile}
     */
    public static long sizeOf(Path file, int blockSizeBytes) {
        return read(file, blockSizeBytes, CheckedFile::sizeBytes);
    }

    /** Reads a result from a file that was checked to be a legal volume. */
    private interface FileReader<T> {
        T read(CheckedFile opened) throws IOException;
    }

    private static <T> T read(Path file, int blockSizeBytes, FileReader<T> reader) {
        checkBlockSize(blockSizeBytes);
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
            throw unreadable(file, e);
        } catch (NoSuchFileException e) {
            throw missing(file, e);
        } catch (IOException e) {
            throw new DpuException(
                    Status.IO_FAILED,
                    "volume file cannot be read: file=" + file + ", reason=" + Reason.of(e),
                    e);
        }
    }

    @Override
    public long sizeBytes() {
        return memory.sizeBytes();
    }

    @Override
    public int blockSizeBytes() {
        return blockSizeBytes;
    }

    @Override
    public void attach(Device device) {
        if (mmap != null || closed) {
            throw new DpuException(
                    Status.BAD_STATE,
                    "volume cannot be attached: volume="
                            + description
                            + ", state="
                            + (closed ? "closed" : "attached"));
        }
        Mmap created = Mmap.create();
        created.setMemory(memory)
                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE))
                .addDevice(device)
                .start();
        mmap = created;
    }

    @Override
    public Mmap memory() {
        if (mmap == null) {
            throw new DpuException(
                    Status.BAD_STATE, "volume is not attached: volume=" + description);
        }
        return mmap;
    }

    /**
     * The volume's bytes, for direct access by the program.
     *
     * @return a view that is valid until {@link #close}
     */
    public MemorySegment segment() {
        return memory.segment();
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (mmap != null) {
            mmap.close();
            mmap = null;
        }
        memory.close();
    }

    private static MemoryVolume load(
            Path file, CheckedFile opened, long offset, long size, int blockSizeBytes)
            throws IOException {
        String description = "file " + file;
        LocalMemory memory = allocate(size, description);
        try {
            long done = opened.read(memory.segment().asSlice(0, size), offset);
            if (done < size) {
                throw refused(
                        Status.IO_FAILED,
                        file,
                        "it ended while it was read, at=" + (offset + done),
                        offset + size + " bytes",
                        null);
            }
            return new MemoryVolume(memory, blockSizeBytes, description);
        } catch (IOException | RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /** Allocates memory, or names the volume that has no room. */
    private static LocalMemory allocate(long sizeBytes, String description) {
        try {
            return LocalMemory.allocate(sizeBytes);
        } catch (DpuException e) {
            throw new DpuException(
                    e.status(),
                    "volume cannot be loaded: volume=" + description + ", reason=" + Reason.of(e),
                    e);
        }
    }

    private static void checkBlockSize(int blockSizeBytes) {
        if (!isBlockSize(blockSizeBytes)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "block size is illegal: blockSizeBytes="
                            + blockSizeBytes
                            + ", expected="
                            + LEGAL_BLOCK_SIZES);
        }
    }

    static boolean isBlockSize(long bytes) {
        return bytes >= MIN_BLOCK_SIZE_BYTES
                && bytes <= MAX_BLOCK_SIZE_BYTES
                && Long.bitCount(bytes) == 1;
    }

    private static DpuException missing(Path file, Throwable cause) {
        return refused(Status.NOT_FOUND, file, "it does not exist", "a regular file", cause);
    }

    private static DpuException unreadable(Path file, Throwable cause) {
        return refused(
                Status.NOT_PERMITTED, file, "this user may not read it", "a readable file", cause);
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
