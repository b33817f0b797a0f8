package io.softdpu.storage.initiator;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.text.Reason;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.worker.Closeables;
import io.softdpu.storage.workload.Content;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Memory of the initiator for the data, exported to the service, which re-exports it to the target.
 * Filled and compared in pieces, so that its owner can check its peers in between.
 *
 * <p>The peers may write to the memory at any time, also during the comparison. So each piece is
 * copied once to private memory, and the result, the digest and the report of a difference refer to
 * the copy. One thread at a time.
 */
final class IoMemory implements AutoCloseable {
    private static final int PIECE_BYTES = 1 << 20;

    /** Lines of 16 bytes that a dump shows before and after the line with the difference. */
    private static final int DUMP_LINES_AROUND = 2;

    private final SharedMemory memory;
    private final Mmap mmap;
    private final Blob export;
    private final byte[] expected = new byte[PIECE_BYTES];
    private final byte[] actual = new byte[PIECE_BYTES];

    IoMemory(Device device, long sizeBytes) {
        memory = allocate(sizeBytes);
        mmap = Mmap.create();
        try {
            mmap.setMemory(memory)
                    .setPermissions(
                            Permissions.of(
                                    AccessFlag.LOCAL_READ_WRITE,
                                    AccessFlag.PCI_READ_WRITE,
                                    AccessFlag.RDMA_READ,
                                    AccessFlag.RDMA_WRITE))
                    .addDevice(device)
                    .start();
            export = Blob.of(mmap.exportPci(device));
        } catch (RuntimeException | Error e) {
            Closeables.afterFailure(e, mmap, memory);
            throw e;
        }
    }

    private static SharedMemory allocate(long sizeBytes) {
        try {
            return SharedMemory.allocate(sizeBytes);
        } catch (DpuException e) {
            throw new DpuException(
                    e.status(),
                    "memory for the data cannot be allocated: sizeBytes="
                            + sizeBytes
                            + ", reason="
                            + Reason.of(e),
                    e);
        }
    }

    long sizeBytes() {
        return memory.sizeBytes();
    }

    Blob export() {
        return export;
    }

    /** Result of a successful {@link #verify}: number of compared bytes and their digests. */
    record Verified(long bytes, String expectedSha256, String actualSha256) {}

    /** Fills the whole memory. */
    void fill(Content content, Runnable betweenPieces) {
        for (long at = 0; at < sizeBytes(); at += PIECE_BYTES) {
            long size = Math.min(PIECE_BYTES, sizeBytes() - at);
            content.fill(memory.segment().asSlice(at, size), at);
            betweenPieces.run();
        }
    }

    /**
     * Compares the first bytes with a content. The digests are computed from the compared bytes,
     * independent of later writes to the memory.
     *
     * @throws DataMismatchException at the first byte that differs
     */
    Verified verify(String phase, Content content, long sizeBytes, Runnable betweenPieces) {
        MessageDigest expectedDigest = sha256();
        MessageDigest actualDigest = sha256();
        for (long at = 0; at < sizeBytes; at += PIECE_BYTES) {
            int size = (int) Math.min(PIECE_BYTES, sizeBytes - at);
            content.fill(MemorySegment.ofArray(expected).asSlice(0, size), at);
            // The only read of memory that peers can write.
            MemorySegment.copy(memory.segment(), ValueLayout.JAVA_BYTE, at, actual, 0, size);
            int difference = Arrays.mismatch(expected, 0, size, actual, 0, size);
            if (difference >= 0) {
                throw mismatch(phase, at, size, difference);
            }
            expectedDigest.update(expected, 0, size);
            actualDigest.update(actual, 0, size);
            betweenPieces.run();
        }
        return new Verified(sizeBytes, hex(expectedDigest), hex(actualDigest));
    }

    @Override
    public void close() {
        mmap.close();
        memory.close();
    }

    /** Creates the exception for the first difference between the private copies of a piece. */
    private DataMismatchException mismatch(
            String phase, long pieceOffset, int size, int difference) {
        long first = Math.max(0, (difference & -16) - 16 * DUMP_LINES_AROUND);
        long end = Math.min(size, (difference & -16) + 16 * (DUMP_LINES_AROUND + 1));
        StringBuilder dump = new StringBuilder();
        dump.append("expected:").append(System.lineSeparator());
        HexDump.append(dump, MemorySegment.ofArray(expected), first, end, pieceOffset);
        dump.append("actual:").append(System.lineSeparator());
        HexDump.append(dump, MemorySegment.ofArray(actual), first, end, pieceOffset);
        return new DataMismatchException(
                phase,
                pieceOffset + difference,
                expected[difference],
                actual[difference],
                dump.toString());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new DpuException(
                    Status.NOT_SUPPORTED, "this Java runtime has no SHA-256: algorithm=SHA-256", e);
        }
    }

    private static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }
}
