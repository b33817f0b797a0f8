package io.softdpu.storage.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.lang.foreign.MemorySegment;

/**
 * An io_message with legal values: what {@link IoMessageView} reads in place, as a value.
 *
 * @param type what it asks for or says
 * @param userData 64 bits that the requester chose and gets back
 * @param result SUCCESS in a request; in an answer how the operation ended
 * @param ioSizeBytes bytes to move, 0 to 2^32 - 1
 * @param requesterOffset where in the requester's exported memory, not negative
 * @param storageOffset where in the storage, not negative
 */
public record IoMessage(
        IoType type,
        long userData,
        Status result,
        long ioSizeBytes,
        long requesterOffset,
        long storageOffset) {

    private static final long MAX_IO_SIZE_BYTES = 0xFFFF_FFFFL;

    /**
     * Checks the values.
     *
     * @throws DpuException INVALID_VALUE that names the field
     */
    public IoMessage {
        if (ioSizeBytes < 0 || ioSizeBytes > MAX_IO_SIZE_BYTES) {
            throw invalid("io_size", Long.toString(ioSizeBytes), "0 to " + MAX_IO_SIZE_BYTES);
        }
        if (requesterOffset < 0) {
            throw invalid("requester_offset", Long.toUnsignedString(requesterOffset), "below 2^63");
        }
        if (storageOffset < 0) {
            throw invalid("storage_offset", Long.toUnsignedString(storageOffset), "below 2^63");
        }
        if (type != IoType.RESULT && result != Status.SUCCESS) {
            throw invalid("result", result.name(), "SUCCESS in a request");
        }
    }

    /** Writes all 64 bytes at this place. */
    public void encode(MemorySegment memory, long at) {
        IoMessageView.write(
                memory,
                at,
                type.code(),
                userData,
                result.code(),
                (int) ioSizeBytes,
                requesterOffset,
                storageOffset);
    }

    /**
     * Reads an io_message.
     *
     * @param lengthBytes how many bytes came; an io_message has 64, no more and no less
     * @throws DpuException INVALID_VALUE that names the field, what it held and what was expected
     */
    public static IoMessage decode(MemorySegment memory, long at, long lengthBytes) {
        if (lengthBytes != IoMessageView.WIRE_BYTES) {
            throw invalid(
                    "length",
                    Long.toString(lengthBytes),
                    Integer.toString(IoMessageView.WIRE_BYTES));
        }
        int code = IoMessageView.result(memory, at);
        Status result = Status.ofCode(code);
        if (result.code() != code) {
            throw invalid("result", Integer.toUnsignedString(code), "a status code");
        }
        return new IoMessage(
                IoType.ofCode(IoMessageView.type(memory, at)),
                IoMessageView.userData(memory, at),
                result,
                IoMessageView.ioSize(memory, at),
                IoMessageView.requesterOffset(memory, at),
                IoMessageView.storageOffset(memory, at));
    }

    private static DpuException invalid(String field, String found, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                "io_message "
                        + field
                        + " is illegal: "
                        + field
                        + "="
                        + found
                        + ", expected="
                        + expected);
    }
}
