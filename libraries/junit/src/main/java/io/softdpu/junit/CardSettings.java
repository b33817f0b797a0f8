package io.softdpu.junit;

import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.linux.text.Text;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;

/**
 * Settings of a card, which the processes of a test share. Immutable.
 *
 * @param topologyName as given to {@link Topology#parse}
 * @param topologyText as given to {@link Topology#parse}
 * @param sanitized whether the sanitizer is on
 * @param seed of the sanitizer
 * @param leakDeadline time for resources that are released by themselves
 * @param childOptions JVM options of further processes
 */
record CardSettings(
        String topologyName,
        String topologyText,
        boolean sanitized,
        long seed,
        Duration leakDeadline,
        List<String> childOptions)
        implements Serializable {

    /** The topology; equal in all processes. */
    Topology topology() {
        return Topology.parse(topologyName, topologyText);
    }

    /** How to run it again, for the end of a message. */
    String repetition() {
        if (!sanitized) {
            return "not sanitized";
        }
        return Text.format("seed=%d, repeat with %s=%d", seed, Sanitizer.ENVIRONMENT, seed);
    }
}
