package io.softdpu.rdma.spi;

import io.softdpu.fuzz.Refused;
import io.softdpu.rdma.roce.RoceSections;
import io.softdpu.rdma.shm.ShmSections;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** The blobs of RDMA connections, whose offsets are package-private in the library. */
public final class ConnectionBlobs {
    private ConnectionBlobs() {}

    /**
     * Decodes a blob as it is, and with the check that belongs to it, since bytes that were changed
     * anywhere would get no further otherwise.
     */
    public static void check(byte[] bytes) {
        decode(bytes);
        if (bytes.length >= ConnectionBlob.HEADER_BYTES) {
            decode(withCheck(bytes));
        }
    }

    private static byte[] withCheck(byte[] bytes) {
        ByteBuffer blob = ByteBuffer.wrap(bytes.clone()).order(ByteOrder.LITTLE_ENDIAN);
        blob.putInt(ConnectionBlob.CHECK_OFFSET, 0);
        CRC32C check = new CRC32C();
        check.update(blob.array());
        return blob.putInt(ConnectionBlob.CHECK_OFFSET, (int) check.getValue()).array();
    }

    /** The blob, and what the providers have put into it. */
    private static void decode(byte[] bytes) {
        ConnectionBlob blob = Refused.orValue(() -> ConnectionBlob.decode(bytes));
        if (blob == null) {
            return;
        }
        Refused.requireSame("connection blob", bytes, blob.encode());
        for (ConnectionBlob.Section section : blob.sections()) {
            ShmSections.check(section.details());
            RoceSections.check(section.details());
        }
    }
}
