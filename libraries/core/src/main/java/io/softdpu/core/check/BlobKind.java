package io.softdpu.core.check;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Kind of a blob that a user has passed where another is expected, by its magic number: for the
 * message of the refusal alone. Any thread.
 */
public final class BlobKind {
    private static final int MAGIC_BYTES = 4;

    private static final Map<String, String> KINDS =
            Map.of(
                    "SDMX", "an export of an mmap, for Mmap.createFromExport",
                    "SDSE", "an export of a sync event, for SyncEvent.createFromExport",
                    "SDSR", "an export of a sync event, for RemoteSyncEvent.createFromExport",
                    "SRDC", "an RDMA connection, for Rdma.connect");

    private BlobKind() {}

    /** {@code ", blob=KIND"} for the message; empty if no library here makes such blobs. */
    public static String inMessage(byte[] blob) {
        if (blob.length < MAGIC_BYTES) {
            return "";
        }
        String kind = KINDS.get(new String(blob, 0, MAGIC_BYTES, StandardCharsets.ISO_8859_1));
        return kind == null ? "" : ", blob=" + kind;
    }
}
