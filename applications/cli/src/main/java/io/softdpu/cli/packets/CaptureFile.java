package io.softdpu.cli.packets;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;

/** Stream of a file that a user names. */
public final class CaptureFile extends InputStream {
    private static final int BUFFER_BYTES = 64 << 10;

    private final CheckedFile file;
    private long at;

    private CaptureFile(CheckedFile file) {
        this.file = file;
    }

    /**
     * Opens a file, the caller's to close.
     *
     * @throws DpuException NOT_FOUND or IO_FAILED naming the file
     */
    public static InputStream open(Path file) {
        try {
            return new BufferedInputStream(
                    new CaptureFile(CheckedFile.open(file, FilePolicy.USER_DATA)), BUFFER_BYTES);
        } catch (IOException e) {
            throw failure(file.toString(), e);
        }
    }

    /** The failure of a file that cannot be opened or read. */
    public static DpuException failure(String file, IOException cause) {
        return new DpuException(
                cause instanceof NoSuchFileException ? Status.NOT_FOUND : Status.IO_FAILED,
                Text.format("capture cannot be read: file=%s, reason=%s", file, Reason.of(cause)),
                cause);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
        Objects.checkFromIndexSize(from, length, into.length);
        if (length == 0) {
            return 0;
        }
        long read = file.read(MemorySegment.ofArray(into).asSlice(from, length), at);
        at += read;
        return read == 0 ? -1 : (int) read;
    }

    @Override
    public void close() {
        file.close();
    }
}
