package io.softdpu.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.block.memory.SbcHeader;
import io.softdpu.testkit.StartsProcesses;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;

/** The header of a file with the content of a volume, which may come from anyone. */
@StartsProcesses
class SbcHeaderFuzzTest {
    private static final Path FILE = Path.of("content.sbc");

    @FuzzTest
    void bytes(byte[] file) {
        byte[] first = Arrays.copyOf(file, Math.min(file.length, SbcHeader.SIZE_BYTES));
        SbcHeader header = Refused.orValue(() -> SbcHeader.parse(FILE, first, file.length));
        if (header == null) {
            return; // a raw file, or refused
        }
        byte[] again =
                ByteBuffer.allocate(SbcHeader.SIZE_BYTES)
                        .putLong(SbcHeader.MAGIC)
                        .putInt(header.blockSizeBytes())
                        .putInt((int) header.blockCount())
                        .array();
        Refused.requireSame("header", first, again);
        long content = header.blockSizeBytes() * header.blockCount();
        if (content <= 0 || content != file.length - (long) SbcHeader.SIZE_BYTES) {
            throw new AssertionError("content does not fit: header=" + header);
        }
    }
}
