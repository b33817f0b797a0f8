package io.softdpu.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.core.Status;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.wire.IoType;
import io.softdpu.testkit.StartsProcesses;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The 64 bytes of the data path. Their view accepts any bytes: the reader checks the fields, and
 * must get exactly their values.
 */
@StartsProcesses
class IoMessageFuzzTest {
    private static final int AT = 3;
    private static final int SIZE = IoMessageView.WIRE_BYTES;

    @FuzzTest
    void bytes(byte[] message) {
        if (message.length != SIZE) {
            return; // receivers ask for the length before they look
        }
        // Somewhere in a larger memory, as on the data path.
        byte[] around = new byte[SIZE + 2 * AT];
        Arrays.fill(around, (byte) 0xa5);
        System.arraycopy(message, 0, around, AT, SIZE);
        MemorySegment memory = MemorySegment.ofArray(around);
        Refused.requireSame("io_message", withoutGaps(message), writtenAgain(memory));

        byte[] answer = message.clone();
        MemorySegment expected = MemorySegment.ofArray(answer);
        IoMessageView.write(
                expected,
                0,
                IoType.RESULT.code(),
                IoMessageView.userData(memory, AT),
                Status.AGAIN.code(),
                (int) IoMessageView.ioSizeBytes(memory, AT),
                IoMessageView.requesterOffset(memory, AT),
                IoMessageView.storageOffset(memory, AT));
        IoMessageView.writeResult(memory, AT, Status.AGAIN.code());
        Refused.requireSame("answer", answer, writtenAgain(memory));
        requireUntouched(around);
    }

    private static byte[] writtenAgain(MemorySegment memory) {
        byte[] again = new byte[SIZE];
        Arrays.fill(again, (byte) 0x5a);
        IoMessageView.write(
                MemorySegment.ofArray(again),
                0,
                IoMessageView.type(memory, AT),
                IoMessageView.userData(memory, AT),
                IoMessageView.result(memory, AT),
                (int) IoMessageView.ioSizeBytes(memory, AT),
                IoMessageView.requesterOffset(memory, AT),
                IoMessageView.storageOffset(memory, AT));
        return again;
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

    private static void requireUntouched(byte[] around) {
        for (int i = 0; i < AT; i++) {
            if (around[i] != (byte) 0xa5 || around[AT + SIZE + i] != (byte) 0xa5) {
                throw new AssertionError("wrote beside the message: at=" + i);
            }
        }
    }
}
