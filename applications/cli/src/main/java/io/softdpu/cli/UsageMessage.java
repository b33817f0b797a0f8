package io.softdpu.cli;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.MaxValuesExceededException;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.MutuallyExclusiveArgsException;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Messages for a command line that picocli has refused, in the form of all errors: {@code reason:
 * key=value, expected=...}. A message of our own checks is left as it is.
 */
final class UsageMessage {
    private UsageMessage() {}

    /** The message for a refused command line. */
    static String of(ParameterException failure) {
        return switch (failure) {
            case UnmatchedArgumentException unmatched -> unmatched(unmatched);
            case MissingParameterException missing -> missing(missing.getMissing());
            case OverwrittenOptionException twice -> givenTwice(nameOf(twice.getOverwritten()));
            case MaxValuesExceededException twice when twice.getArgSpec() == null ->
                    givenTwice(groupedOptionsIn(twice));
            case MutuallyExclusiveArgsException several ->
                    "options exclude each other: options=["
                            + groupedOptionsIn(several)
                            + "], expected=one of them";
            default -> refusedValue(failure);
        };
    }

    /**
     * Puts the option before the values of a converter's message.
     *
     * @param message {@code reason: key=value, expected=...}
     */
    static String ofOption(String option, String message) {
        return message.replaceFirst(": ", ": option=" + option + ", ");
    }

    /** The message for options or parameters without a value; hidden ones are not named. */
    static String missing(List<ArgSpec> all) {
        List<ArgSpec> missing = all.stream().filter(one -> !one.hidden()).toList();
        boolean one = missing.size() == 1;
        String names = missing.stream().map(UsageMessage::nameOf).collect(Collectors.joining(", "));
        return (one ? "value is missing: " : "values are missing: ")
                + (one ? keyOf(missing.getFirst()) + "=" + names : "options=[" + names + "]")
                + ", expected="
                + missing.stream().map(UsageMessage::usageOf).collect(Collectors.joining(" "));
    }

    /** The commands of a group; hidden ones are not named. */
    static String commandsOf(CommandLine group) {
        return group.getSubcommands().entrySet().stream()
                .filter(one -> !one.getValue().getCommandSpec().usageMessage().hidden())
                .map(Map.Entry::getKey)
                .collect(Collectors.joining(", "));
    }

    private static String unmatched(UnmatchedArgumentException failure) {
        CommandLine command = failure.getCommandLine();
        String found = failure.getUnmatched().getFirst();
        if (failure.isUnknownOption()) {
            List<String> similar = failure.getSuggestions();
            return "no such option: option="
                    + found
                    + ", expected="
                    + (similar.isEmpty()
                            ? "an option of `" + command.getCommandSpec().qualifiedName() + "`"
                            : String.join(" or ", similar));
        }
        if (!command.getSubcommands().isEmpty()) {
            return "no such command: command=" + found + ", expected=one of " + commandsOf(command);
        }
        return "argument is not expected: argument="
                + found
                + ", expected=no further argument of `"
                + command.getCommandSpec().qualifiedName()
                + "`";
    }

    private static String givenTwice(String option) {
        return "option is given twice: option=" + option + ", expected=one value";
    }

    /** The options of a group that picocli has refused: its exception has them in the text only. */
    private static String groupedOptionsIn(ParameterException failure) {
        String text = String.valueOf(failure.getMessage());
        return failure.getCommandLine().getCommandSpec().argGroups().stream()
                .flatMap(group -> group.args().stream())
                .map(UsageMessage::nameOf)
                .filter(text::contains)
                .collect(Collectors.joining(", "));
    }

    private static String refusedValue(ParameterException failure) {
        ArgSpec of = failure.getArgSpec();
        if (of == null) {
            return String.valueOf(failure.getMessage());
        }
        String reason = "";
        if (failure.getCause() instanceof TypeConversionException refused) {
            reason = String.valueOf(refused.getMessage());
        }
        if (!reason.contains("=")) { // a converter of picocli
            return "value is illegal: %s=%s, value=%s, expected=%s"
                    .formatted(
                            keyOf(of),
                            nameOf(of),
                            failure.getValue(),
                            isInteger(of) ? "a whole number" : of.paramLabel());
        }
        return of.isOption() ? ofOption(nameOf(of), reason) : reason;
    }

    private static boolean isInteger(ArgSpec of) {
        Class<?> type = of.type();
        return type == int.class || type == long.class;
    }

    private static String keyOf(ArgSpec of) {
        return of.isOption() ? "option" : "argument";
    }

    private static String nameOf(ArgSpec of) {
        return of instanceof OptionSpec option ? option.longestName() : of.paramLabel();
    }

    private static String usageOf(ArgSpec of) {
        return of.isOption() ? nameOf(of) + "=" + of.paramLabel() : of.paramLabel();
    }
}
