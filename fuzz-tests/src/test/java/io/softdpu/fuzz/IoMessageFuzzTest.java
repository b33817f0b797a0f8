package io.softdpu.fuzz;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.core.Status;
import io.softdpu.storage.wire.IoMessage;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.wire.IoType;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** The 64 bytes of the data path. */
class IoMessageFuzzTest {
    private static final int AT = 3;

    @FuzzTest
    void bytes(byte[] message) {
        // Somewhere in a larger memory, as on the data path.
        byte[] around = new byte[Math.max(message.length, IoMessageView.WIRE_BYTES) + 2 * AT];
        Arrays.fill(around, (byte) 0xa5);
        System.arraycopy(message, 0, around, AT, message.length);
        MemorySegment memory = MemorySegment.ofArray(around);
        IoMessage decoded = Refused.orValue(() -> IoMessage.decode(memory, AT, message.length));
        if (decoded == null) {
            return;
        }
        byte[] again = new byte[IoMessageView.WIRE_BYTES];
        decoded.encode(MemorySegment.ofArray(again), 0);
        Refused.requireSame("io_message", withoutGaps(message), again);
        requireView(memory, decoded);

        IoMessageView.writeResult(memory, AT, Status.AGAIN.code());
        IoMessage answer = IoMessage.decode(memory, AT, IoMessageView.WIRE_BYTES);
        if (answer.type() != IoType.RESULT
                || answer.result() != Status.AGAIN
                || answer.userData() != decoded.userData()
                || answer.ioSizeBytes() != decoded.ioSizeBytes()
                || answer.requesterOffset() != decoded.requesterOffset()
                || answer.storageOffset() != decoded.storageOffset()) {
            throw new AssertionError("answer of another request: " + decoded + ", " + answer);
        }
    }

    /** Gap and padding mean nothing: they are ignored, and written as 0. */
    private static byte[] withoutGaps(byte[] message) {
        byte[] clean = message.clone();
        Arrays.fill(
                clean,
                (int) IoMessageView.GAP_OFFSET,
                (int) IoMessageView.GAP_OFFSET + 4,
                (byte) 0);
        Arrays.fill(clean, (int) IoMessageView.PADDING_OFFSET, clean.length, (byte) 0);
        return clean;
    }

    private static void requireView(MemorySegment memory, IoMessage decoded) {
        if (IoMessageView.type(memory, AT) != decoded.type().code()
                || IoMessageView.userData(memory, AT) != decoded.userData()
                || IoMessageView.result(memory, AT) != decoded.result().code()
                || IoMessageView.ioSize(memory, AT) != decoded.ioSizeBytes()
                || IoMessageView.requesterOffset(memory, AT) != decoded.requesterOffset()
                || IoMessageView.storageOffset(memory, AT) != decoded.storageOffset()) {
            throw new AssertionError("the view reads another message: " + decoded);
        }
    }

    @FuzzTest
    void fields(FuzzedDataProvider data) {
        IoType type = data.pickValue(IoType.values());
        IoMessage message =
                new IoMessage(
                        type,
                        data.consumeLong(),
                        type == IoType.RESULT ? data.pickValue(Status.values()) : Status.SUCCESS,
                        data.consumeLong(0, 0xffff_ffffL),
                        data.consumeLong(0, Long.MAX_VALUE),
                        data.consumeLong(0, Long.MAX_VALUE));
        byte[] around = new byte[IoMessageView.WIRE_BYTES + 2 * AT];
        MemorySegment memory = MemorySegment.ofArray(around);
        Refused.requireReturns(
                message,
                value -> {
                    Arrays.fill(around, (byte) 0xa5);
                    value.encode(memory, AT);
                    return IoMessage.decode(memory, AT, IoMessageView.WIRE_BYTES);
                });
    }
}
