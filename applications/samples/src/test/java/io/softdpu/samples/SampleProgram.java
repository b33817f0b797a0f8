package io.softdpu.samples;

import io.softdpu.core.device.Topology;
import java.util.EnumMap;
import java.util.Locale;
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

    /** Runs the sample. */
    public static void main(String[] arguments) {
        Map<SampleOption, String> values = new EnumMap<>(SampleOption.class);
        for (int i = 1; i < arguments.length; i++) {
            int equals = arguments[i].indexOf('=');
            String option = arguments[i].substring(0, equals).toUpperCase(Locale.ROOT);
            values.put(SampleOption.valueOf(option), arguments[i].substring(equals + 1));
        }
        try {
            find(arguments[0]).run(new SampleSettings(Topology.builtin(), values), System.out);
        } catch (WrongDataException e) {
            System.err.println(e);
            System.exit(3);
        }
    }
}
