package io.softdpu.perf.child;

import io.softdpu.perf.text.Word;
import io.softdpu.storage.workload.Content;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The contents that a plan can name. */
public enum PlanContent implements Word {
    /** Zeros. */
    ZEROS,
    /** The initial content of the volume: the bytes of a file, or the pattern. */
    VOLUME,
    /** Another pattern, of which no 8 bytes are those of the volumes' pattern at the same place. */
    WRITTEN;

    private static final long WRITTEN_SEED = Content.VOLUME_PATTERN_SEED + 1;

    static PlanContent of(String word) {
        for (PlanContent content : values()) {
            if (content.word().equals(word)) {
                return content;
            }
        }
        throw new IllegalArgumentException("no such content: content=" + word);
    }

    /**
     * The bytes.
     *
     * @param volumeFile what the volume was loaded from; null if it holds the pattern
     */
    public Content content(@Nullable Path volumeFile) {
        return switch (this) {
            case ZEROS -> Content.zeros();
            case VOLUME ->
                    volumeFile == null
                            ? Content.pattern(Content.VOLUME_PATTERN_SEED)
                            : Content.file(volumeFile);
            case WRITTEN -> Content.pattern(WRITTEN_SEED);
        };
    }
}
