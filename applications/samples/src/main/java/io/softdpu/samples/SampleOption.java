package io.softdpu.samples;

import org.jspecify.annotations.Nullable;

/**
 * A setting of a sample: an option with a value, or a flag without one. Samples may share options,
 * or have some of their own.
 *
 * @param longName its name on a command line, without hyphens before it
 * @param shortName its short name, a letter or two; null: none
 * @param label the placeholder of its value in a help text; null: it is a flag
 * @param description a short description, without a full stop
 * @param required whether the sample needs it
 */
public record SampleOption(
        String longName,
        @Nullable String shortName,
        @Nullable String label,
        String description,
        boolean required) {

    /** The device that it works on. */
    public static final SampleOption DEVICE =
            of("device", "d", "DEVICE", "The device: PCI address, ibdev name or interface name");

    /** The representor of the function that it serves. */
    public static final SampleOption REPRESENTOR =
            of("representor", null, "NAME", "The representor of the host's function");

    /** The text that it works with. */
    public static final SampleOption TEXT =
            of("text", null, "TEXT", "The text to copy, instead of a file");

    /** The file that it reads. */
    public static final SampleOption FILE =
            of("file", null, "FILE", "The file to copy, instead of a text");

    /** The file that it writes. */
    public static final SampleOption OUTPUT =
            of("output", null, "FILE", "The file to write what was copied to");

    /** The time limit. */
    public static final SampleOption TIMEOUT =
            of(
                    "timeout",
                    null,
                    "SECONDS",
                    "How long it may take in all, waiting for the peer included");

    /** An option with a value that the sample can do without. */
    public static SampleOption of(
            String longName, @Nullable String shortName, String label, String description) {
        return new SampleOption(longName, shortName, label, description, false);
    }

    /** A flag, which has no value. */
    public static SampleOption flag(
            String longName, @Nullable String shortName, String description) {
        return new SampleOption(longName, shortName, null, description, false);
    }

    /** The same as an option that the sample needs. */
    public SampleOption asRequired() {
        return new SampleOption(longName, shortName, label, description, true);
    }

    /** Whether it has no value. */
    public boolean isFlag() {
        return label == null;
    }
}
