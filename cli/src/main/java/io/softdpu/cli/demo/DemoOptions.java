package io.softdpu.cli.demo;

import io.softdpu.cli.log.LogLevel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a demo works on.
 *
 * @param volumeFile what the target loads; null: the known pattern
 * @param sizeBytes bytes of the volume
 * @param blockSizeBytes bytes of a block
 * @param measureNanos how long each measurement lasts
 * @param logLevel what the three processes log
 */
public record DemoOptions(
        @Nullable Path volumeFile,
        long sizeBytes,
        int blockSizeBytes,
        long measureNanos,
        LogLevel logLevel) {}
