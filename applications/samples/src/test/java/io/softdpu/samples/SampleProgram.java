package io.softdpu.samples;

import io.softdpu.core.device.Topology;
import java.util.HashMap;
import java.util.Map;

/**
 * A sample as a separate process. Arguments: its name, then {@code option=value} each. Whatever it
 * throws ends the process with 1, and with 3 where the data is wrong.
 */
public final class SampleProgram {
    private SampleProgram() {}

    /** The sample with this name. */
    static Sample find(String name) {
        return Samples.all().stream()
                .filter(sample -> sample.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no such sample: sample=" + name));
    }

    private static SampleOption option(Sample sample, String longName) {
        return sample.options().stream()
                .filter(option -> option.longName().equals(longName))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("no such option: option=" + longName));
    }

    /** Runs the sample. */
    public static void main(String[] arguments) {
        Sample sample = find(arguments[0]);
        Map<SampleOption, String> values = new HashMap<>();
        for (int i = 1; i < arguments.length; i++) {
            String name = arguments[i].replaceFirst("=.*", "");
            values.put(option(sample, name), arguments[i].substring(name.length() + 1));
        }
        try {
            sample.run(new SampleSettings(Topology.builtin(), values), System.out);
        } catch (WrongDataException e) {
            System.err.println(e);
            System.exit(3);
        }
    }
}
