package io.softdpu.core.memory;

import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.sanitizer.Mistake;
import io.softdpu.core.internal.sanitizer.SanitizerState;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Sanitizer checks of one buf and its memory. Null in a buf without a sanitizer, which is the only
 * check on the data path. Used by the thread that has the buf.
 */
final class BufChecker {
    /** Value of bytes that were not written. */
    private static final byte POISON = (byte) 0xa5;

    private final Buf buf;
    private final BufOwner owner;
    private final SanitizerState sanitizer;
    private @Nullable Throwable allocatedAt;
    private boolean isSource;
    private long sum;

    BufChecker(Buf buf, BufOwner owner, SanitizerState sanitizer) {
        this.buf = buf;
        this.owner = owner;
        this.sanitizer = sanitizer;
    }

    void handedOut() {
        allocatedAt = SanitizerState.place();
        owner.handedOut(this);
    }

    /** Stack trace of the last allocation. */
    @Nullable Throwable allocatedAt() {
        return allocatedAt;
    }

    void takenIn() {
        owner.takenIn(this);
    }

    void misused(String how) {
        report(Mistake.BUF_MISUSED, how);
    }

    void leaked() {
        report(Mistake.BUF_LEAKED, "buf was not released before the end");
    }

    /** Begins use of the list by a task: poisons the memory that the task will write. */
    void marked(boolean asSource, long writtenBytes) {
        isSource = asSource;
        if (asSource) {
            sum = sum();
            return;
        }
        long left = writtenBytes;
        for (Buf each = buf; each != null; each = each.nextInList()) {
            MemorySegment memory = ownMemory(each);
            long here = Math.min(left, each.tailroom());
            left -= here;
            if (memory != null && !memory.isReadOnly()) {
                memory.asSlice(each.dataOffset() + each.dataLength(), here).fill(POISON);
            }
        }
    }

    /** Ends use of the list by a task. */
    void cleared() {
        if (isSource && sum != sum()) {
            report(Mistake.SOURCE_CHANGED, "source of a task was changed in flight");
        }
        isSource = false;
    }

    private long sum() {
        CRC32C crc = new CRC32C();
        for (Buf each = buf; each != null; each = each.nextInList()) {
            MemorySegment memory = ownMemory(each);
            if (memory != null) {
                add(crc, memory, each.dataOffset(), each.dataLength());
            }
        }
        return crc.getValue();
    }

    private static void add(CRC32C crc, MemorySegment memory, long offset, long length) {
        for (long at = 0; at < length; at += Integer.MAX_VALUE) {
            long size = Math.min(length - at, Integer.MAX_VALUE);
            crc.update(memory.asSlice(offset + at, size).asByteBuffer());
        }
    }

    /** The buf's memory if it is this program's and accessible; else null. */
    private static @Nullable MemorySegment ownMemory(Buf of) {
        Mmap mmap = of.mmap();
        if (mmap.isImported()) {
            return null;
        }
        MemorySegment memory = mmap.segment();
        return Arguments.isReadable(memory) ? memory : null;
    }

    private void report(Mistake kind, String reason) {
        sanitizer.report(kind, Text.format("%s: buf=%s", reason, buf), allocatedAt);
    }
}
