package io.softdpu.core.memory;

import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.sanitizer.Mistake;
import io.softdpu.core.internal.sanitizer.SanitizerCore;
import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * What a sanitizer knows of a buf and does to its memory. A buf without a sanitizer has none, which
 * is all that the data path asks. Used by the thread that has the buf.
 */
final class BufWatch {
    /** What nobody has written. */
    private static final byte POISON = (byte) 0xa5;

    private final Buf buf;
    private final BufOwner owner;
    private final SanitizerCore sanitizer;
    private @Nullable Throwable allocatedAt;
    private boolean isSource;
    private long sum;

    BufWatch(Buf buf, BufOwner owner, SanitizerCore sanitizer) {
        this.buf = buf;
        this.owner = owner;
        this.sanitizer = sanitizer;
    }

    void handedOut() {
        allocatedAt = SanitizerCore.place();
        owner.handedOut(this);
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

    /** A task has the list from now on: what it is going to write is nobody's till then. */
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

    /** The task is done with the list. */
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

    /** Memory of this program, if it can be reached: not another's, and not closed meanwhile. */
    private static @Nullable MemorySegment ownMemory(Buf of) {
        Mmap mmap = of.mmap();
        if (mmap.isImported()) {
            return null;
        }
        MemorySegment memory = mmap.segment();
        return Arguments.isReadable(memory) ? memory : null;
    }

    private void report(Mistake kind, String reason) {
        sanitizer.report(kind, "%s: buf=%s".formatted(reason, buf), allocatedAt);
    }
}
