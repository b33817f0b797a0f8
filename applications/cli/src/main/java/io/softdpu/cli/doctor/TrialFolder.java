package io.softdpu.cli.doctor;

import io.softdpu.core.DpuException;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.linux.file.OutputFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * A private folder that shows by its creation that folders, files with content and locks can be
 * made in another one. Its close removes it.
 */
final class TrialFolder implements AutoCloseable {
    private static final String PREFIX = "softdpu-doctor-";

    /** More than a page: file systems keep the first bytes of a file beside its name. */
    private static final int TRIED_BYTES = 16 << 10;

    private final SharedFolder folder;

    private TrialFolder(SharedFolder folder) {
        this.folder = folder;
    }

    /**
     * Makes it; nothing is left after a failure.
     *
     * @throws IOException naming the file
     */
    static TrialFolder in(Path parent) throws IOException {
        SharedFolder made = SharedFolder.create(parent, PREFIX);
        try {
            OutputFile.replace(
                    made.root().resolve("content"), MemorySegment.ofArray(new byte[TRIED_BYTES]));
        } catch (IOException | RuntimeException e) {
            made.close();
            throw e;
        }
        return new TrialFolder(made);
    }

    /** The private fabric folder in it. */
    Path fabric() {
        return folder.fabric();
    }

    /**
     * Removes it with all that is in it.
     *
     * @throws DpuException OPERATING_SYSTEM if something stays
     */
    @Override
    public void close() {
        folder.close();
    }
}
