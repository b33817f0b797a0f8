package io.softdpu.storage.workload;

import io.softdpu.block.memory.Pattern;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.OptionalLong;

/** Implementations of {@link Content}. */
final class ContentSources {
    static final int PIECE_BYTES = 1 << 20;

    static final Content INDEX_MODULO_256 = new IndexModulo256();
    static final Content ZEROS = new Zeros();

    private ContentSources() {}

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new DpuException(
                    Status.NOT_SUPPORTED, "this Java runtime has no SHA-256: algorithm=SHA-256", e);
        }
    }

    record OfPattern(Pattern pattern) implements Content {
        @Override
        public void fill(MemorySegment destination, long offset) {
            pattern.fill(destination, offset);
        }

        @Override
        public String toString() {
            return "pattern with seed 0x" + Long.toHexString(pattern.seed());
        }
    }

    private static final class IndexModulo256 implements Content {
        private static final long WORD_OF_INDICES = 0x0706_0504_0302_0100L;
        private static final ValueLayout.OfLong LITTLE =
                ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

        @Override
        public void fill(MemorySegment destination, long offset) {
            long size = destination.byteSize();
            long at = 0;
            for (; at < size && ((offset + at) & 7) != 0; at++) {
                destination.set(ValueLayout.JAVA_BYTE, at, (byte) (offset + at));
            }
            for (; at + 8 <= size; at += 8) {
                // The sum has no carry between bytes, since the low three bits of the position are
                // 0 here.
                long first = (offset + at) & 0xF8;
                destination.set(LITTLE, at, WORD_OF_INDICES + first * 0x0101_0101_0101_0101L);
            }
            for (; at < size; at++) {
                destination.set(ValueLayout.JAVA_BYTE, at, (byte) (offset + at));
            }
        }

        @Override
        public String toString() {
            return "index modulo 256";
        }
    }

    private static final class Zeros implements Content {
        @Override
        public void fill(MemorySegment destination, long offset) {
            destination.fill((byte) 0);
        }

        @Override
        public String toString() {
            return "zeros";
        }
    }

    record OfFile(Path file) implements Content {
        @Override
        public OptionalLong sizeBytes() {
            try (CheckedFile opened = CheckedFile.open(file, FilePolicy.USER_DATA)) {
                return OptionalLong.of(opened.sizeBytes());
            } catch (IOException e) {
                throw unreadable(e);
            }
        }

        @Override
        public void fill(MemorySegment destination, long offset) {
            try (CheckedFile opened = CheckedFile.open(file, FilePolicy.USER_DATA)) {
                if (opened.read(destination, offset) < destination.byteSize()) {
                    throw new DpuException(
                            Status.INVALID_VALUE,
                            "file is too short: file="
                                    + file
                                    + ", sizeBytes="
                                    + opened.sizeBytes()
                                    + ", expected="
                                    + (offset + destination.byteSize())
                                    + " bytes or more");
                }
            } catch (IOException e) {
                throw unreadable(e);
            }
        }

        private DpuException unreadable(IOException e) {
            if (e instanceof FileRefusedException refused) {
                return new DpuException(
                        Status.INVALID_VALUE,
                        "file is refused: file="
                                + file
                                + ", reason="
                                + refused.reason()
                                + ", expected="
                                + refused.expected(),
                        e);
            }
            return new DpuException(
                    Status.IO_FAILED,
                    "file cannot be read: file=" + file + ", reason=" + Reason.of(e),
                    e);
        }

        @Override
        public String toString() {
            return "file " + file;
        }
    }
}
