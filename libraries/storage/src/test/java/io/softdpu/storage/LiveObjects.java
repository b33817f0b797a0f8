package io.softdpu.storage;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Number of live objects of each type in this JVM at a moment, after a garbage collection.
 *
 * @param histogram as the JVM prints it
 */
public record LiveObjects(String histogram) {
    /** Those of now. */
    public static LiveObjects now() {
        try {
            return new LiveObjects(
                    ManagementFactory.getPlatformMBeanServer()
                            .invoke(
                                    new ObjectName("com.sun.management:type=DiagnosticCommand"),
                                    "gcClassHistogram",
                                    new Object[] {new String[0]},
                                    new String[] {String[].class.getName()})
                            .toString());
        } catch (JMException e) {
            throw new AssertionError("JVM does not tell its objects", e);
        }
    }

    /** The number of instances of a type, by its full name. */
    public int instances(String type) {
        // A line is "  12:    3    96  io.softdpu.core.memory.BufInventory (io.softdpu.core)".
        return histogram
                .lines()
                .map(line -> line.strip().split(" +"))
                .filter(words -> words.length > 3 && words[3].equals(type))
                .mapToInt(words -> Integer.parseInt(words[1]))
                .sum();
    }
}
