package io.softdpu.cli;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Help of a command, with its options in the same order in every region. That of picocli depends on
 * the capitals of the region, which in Turkish put {@code --wait} behind {@code --warm-up}.
 */
final class CommandHelp extends Help {
    private static final Comparator<OptionSpec> BY_NAME =
            Comparator.comparing((OptionSpec option) -> name(option).toUpperCase(Locale.ROOT))
                    .thenComparing(CommandHelp::name, Comparator.reverseOrder());

    /** For the synopsis: options without a value first. */
    private static final Comparator<OptionSpec> BY_VALUES =
            Comparator.comparingInt((OptionSpec option) -> option.arity().max())
                    .thenComparingInt(option -> option.arity().min())
                    .thenComparing(OptionSpec::isMultiValue)
                    .thenComparing(BY_NAME);

    CommandHelp(CommandSpec command, ColorScheme colors) {
        super(command, colors);
    }

    private static String name(OptionSpec option) {
        return Arrays.stream(option.names())
                .min(shortestFirst())
                .map(name -> name.replaceFirst("^-+", ""))
                .orElseThrow();
    }

    @Override
    public Comparator<OptionSpec> createDefaultOptionSort() {
        return BY_NAME;
    }

    @Override
    public String detailedSynopsis(
            int headingLength, Comparator<OptionSpec> order, boolean clustered) {
        return super.detailedSynopsis(headingLength, BY_VALUES, clustered);
    }
}
