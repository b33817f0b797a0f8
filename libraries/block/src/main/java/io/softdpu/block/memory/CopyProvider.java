package io.softdpu.block.memory;

import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.spi.BlockProvider;
import io.softdpu.block.spi.DeviceUri;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Provider of blocks in memory that are a copy of a file, which is read once and never written: its
 * size is a positive multiple of the block size.
 */
public final class CopyProvider implements BlockProvider {
    /** For ServiceLoader. */
    public CopyProvider() {}

    @Override
    public String scheme() {
        return "copy";
    }

    @Override
    public String form() {
        return "copy:PATH";
    }

    @Override
    public ProviderDevice open(DeviceUri uri) {
        if (uri.rest().isEmpty()) {
            throw uri.refused("path is empty");
        }
        Path file = GivenText.path("", uri.rest(), uri::refused);
        try (CheckedFile opened = CheckedFile.open(file, FilePolicy.USER_DATA)) {
            return copy(uri, file, opened);
        } catch (FileRefusedException e) {
            throw refused(Status.INVALID_VALUE, file, e.reason(), e.expected(), e);
        } catch (AccessDeniedException e) {
            throw refused(
                    Status.NOT_PERMITTED, file, "this user may not read it", "a readable file", e);
        } catch (NoSuchFileException e) {
            throw refused(Status.NOT_FOUND, file, "it does not exist", "a regular file", e);
        } catch (IOException e) {
            throw refused(Status.IO_FAILED, file, Reason.of(e), "a file that can be read", e);
        }
    }

    private static ProviderDevice copy(DeviceUri uri, Path file, CheckedFile opened)
            throws IOException {
        long sizeBytes = opened.sizeBytes();
        if (sizeBytes == 0 || sizeBytes % uri.blockSizeBytes() != 0) {
            throw refused(
                    Status.INVALID_VALUE,
                    file,
                    "its size is no positive multiple of the block size, sizeBytes=" + sizeBytes,
                    "a multiple of " + uri.blockSizeBytes(),
                    null);
        }
        LocalMemory memory = MemoryDevice.allocate(sizeBytes, uri);
        boolean loaded = false;
        try {
            long doneBytes = opened.read(memory.segment(), 0);
            if (doneBytes < sizeBytes) {
                throw refused(
                        Status.IO_FAILED,
                        file,
                        "it ended while it was read, atBytes=" + doneBytes,
                        sizeBytes + " bytes",
                        null);
            }
            ProviderDevice device =
                    new MemoryDevice(
                            memory,
                            uri.blockSizeBytes(),
                            "copy of " + file,
                            BlockIdentity.random());
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
                "file of a block device is refused: file="
                        + file
                        + ", reason="
                        + reason
                        + ", expected="
                        + expected,
                cause);
    }
}
