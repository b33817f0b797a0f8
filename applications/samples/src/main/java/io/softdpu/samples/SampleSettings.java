package io.softdpu.samples;

import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Options of one run of a sample. Immutable.
 *
 * @param topology the card
 * @param values of the options that were given, as they were written; of a flag any text
 */
public record SampleSettings(Topology topology, Map<SampleOption, String> values) {
    /** The default time limit of a sample. */
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);

    private static final double LONGEST_SECONDS = 86_400;

    /** The built-in card and no option: every sample runs with that. */
    public static final SampleSettings NONE = new SampleSettings(Topology.builtin(), Map.of());

    /** Takes a copy. */
    public SampleSettings {
        values = Map.copyOf(values);
    }

    /** The value of an option; null without one. */
    public @Nullable String value(SampleOption option) {
        return values.get(option);
    }

    /** The value of an option, or a default. */
    public String value(SampleOption option, String otherwise) {
        return values.getOrDefault(option, otherwise);
    }

    /** Whether an option or flag was given. */
    public boolean isGiven(SampleOption option) {
        return values.containsKey(option);
    }

    /**
     * The value of an option that the sample needs.
     *
     * @throws SampleUsageException if it was not given
     */
    public String required(SampleOption option) {
        String value = values.get(option);
        if (value == null) {
            throw new SampleUsageException(
                    Text.format(
                            "value is missing: option=--%s, expected=--%s=%s",
                            option.longName(), option.longName(), option.label()));
        }
        return value;
    }

    /**
     * The file that an option names.
     *
     * @throws SampleUsageException if it was not given, is no path, or is one that this JVM cannot
     *     represent in its locale
     */
    public Path file(SampleOption option) {
        return GivenText.path(
                "option=--" + option.longName(), required(option), SampleUsageException::new);
    }

    /**
     * How long the sample may take.
     *
     * @throws SampleUsageException if what was given is no time
     */
    public Duration timeout() {
        String text = values.get(SampleOption.TIMEOUT);
        if (text == null) {
            return DEFAULT_TIMEOUT;
        }
        try {
            double seconds = Double.parseDouble(text);
            if (seconds > 0 && seconds <= LONGEST_SECONDS) {
                return Duration.ofNanos((long) (seconds * 1e9));
            }
        } catch (NumberFormatException e) {
            throw new SampleUsageException("not a time: timeout=" + text, e);
        }
        throw new SampleUsageException(
                Text.format("time is illegal: timeout=%s, expected=seconds up to 86400", text));
    }
}
