package io.softdpu.junit;

import io.softdpu.core.Side;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.linux.text.Text;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * Settings of a card, which the processes of a test share. Immutable.
 *
 * @param topologyName as given to {@link Topology#parse}
 * @param topologyText as given to {@link Topology#parse}
 * @param separateFolders sides with a fabric folder of their own
 * @param sanitized whether the sanitizer is on
 * @param seed of the sanitizer
 * @param leakDeadline time for resources that are released by themselves
 * @param childOptions JVM options of further processes
 */
record CardSettings(
        String topologyName,
        String topologyText,
        List<Side> separateFolders,
        boolean sanitized,
        long seed,
        Duration leakDeadline,
        List<String> childOptions)
        implements Serializable {

    /** The topology; equal in all processes. */
    Topology topology() {
        return Topology.parse(topologyName, topologyText);
    }

    /** The fabric folder of a side, in the folder that the processes of a test share. */
    Path fabricFolder(Path folder, Side side) {
        return separateFolders.contains(side)
                ? SharedFolder.fabricOf(folder, side.name().toLowerCase(Locale.ROOT))
                : SharedFolder.fabricOf(folder);
    }

    /** How to run it again, for the end of a message. */
    String repetition() {
        if (!sanitized) {
            return "not sanitized";
        }
        return Text.format("seed=%d, repeat with %s=%d", seed, Sanitizer.ENVIRONMENT, seed);
    }
}
