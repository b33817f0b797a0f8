package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Bytes that a sample works with: a text, or a file. */
sealed interface SampleInput extends AutoCloseable {
    /** Number of bytes, 1 or more. */
    long sizeBytes();

    /** Puts all of them into memory of their size. */
    void fill(MemorySegment memory);

    /** Allocates memory for all of them, as {@link #memoryFor}. */
    SharedMemory allocate();

    @Override
    void close();

    /**
     * Opens the file or the text that was chosen.
     *
     * @param text the option with the text
     * @param file the option with the name of the file
     * @param defaultText the text without either option
     * @throws DpuException INVALID_VALUE for both options, and without any byte; TOO_BIG, IO_FAILED
     */
    static SampleInput open(
            SampleSettings settings, SampleOption text, SampleOption file, String defaultText) {
        String chosenFile = settings.value(file);
        String chosenText = settings.value(text);
        if (chosenFile != null && chosenText != null) {
            throw new SampleUsageException(
                    "either a file or a text: file=" + chosenFile + ", text=" + chosenText);
        }
        if (chosenFile == null) {
            return ofText(chosenText == null ? defaultText : chosenText);
        }
        return FileInput.open(settings.file(file));
    }

    /**
     * Allocates memory, the caller's to close.
     *
     * @param purpose what it is for, as {@code key=value}
     * @throws DpuException NO_MEMORY that names the purpose
     */
    static SharedMemory memoryFor(String purpose, long sizeBytes) {
        try {
            return SharedMemory.allocate(sizeBytes);
        } catch (DpuException e) {
            throw new DpuException(
                    e.status(),
                    "data cannot be loaded: " + purpose + ", reason=" + Reason.of(e),
                    e);
        }
    }

    private static SampleInput ofText(String text) {
        if (text.isEmpty()) {
            throw new SampleUsageException("text is empty: lengthBytes=0, expected=1 or more");
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return new TextInput(MemorySegment.ofArray(bytes));
    }

    /** A text. */
    record TextInput(MemorySegment text) implements SampleInput {
        @Override
        public long sizeBytes() {
            return text.byteSize();
        }

        @Override
        public SharedMemory allocate() {
            return memoryFor("option=--text", sizeBytes());
        }

        @Override
        public void fill(MemorySegment memory) {
            memory.copyFrom(text);
        }

        @Override
        public void close() {}
    }

    /** A file. */
    record FileInput(Path file, CheckedFile opened) implements SampleInput {
        static FileInput open(Path file) {
            FileInput input;
            try {
                input = new FileInput(file, CheckedFile.open(file, FilePolicy.USER_DATA));
            } catch (IOException e) {
                throw unreadable(file, e);
            }
            long sizeBytes = input.sizeBytes();
            if (sizeBytes > 0 && sizeBytes <= Integer.MAX_VALUE) {
                return input;
            }
            input.close();
            throw sizeBytes == 0
                    ? new DpuException(
                            Status.INVALID_VALUE,
                            Text.format(
                                    "file is empty: file=%s, bytes=0, expected=1 or more", file))
                    : new DpuException(
                            Status.TOO_BIG,
                            Text.format(
                                    "file is too large to copy: file=%s, bytes=%d, expected=at most"
                                            + " %d",
                                    file, sizeBytes, Integer.MAX_VALUE));
        }

        @Override
        public long sizeBytes() {
            return opened.sizeBytes();
        }

        @Override
        public SharedMemory allocate() {
            return memoryFor("file=" + file, sizeBytes());
        }

        @Override
        public void fill(MemorySegment memory) {
            try {
                long read = opened.read(memory, 0);
                if (read < memory.byteSize()) {
                    throw new DpuException(
                            Status.IO_FAILED,
                            "file ended while it was read: file="
                                    + file
                                    + ", bytes="
                                    + read
                                    + ", expected="
                                    + memory.byteSize());
                }
            } catch (IOException e) {
                throw unreadable(file, e);
            }
        }

        private static DpuException unreadable(Path file, IOException e) {
            return new DpuException(
                    Status.IO_FAILED,
                    "file cannot be read: file=" + file + ", reason=" + Reason.of(e),
                    e);
        }

        @Override
        public void close() {
            opened.close();
        }
    }
}
