package io.softdpu.cli;

import io.softdpu.linux.text.Suggestions;
import io.softdpu.linux.text.Text;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
    private static final Pattern FIRST_KEY = Pattern.compile("^[^:]*: ([A-Za-z]+)=");

    /** Options that are not called like the key of their value in messages of libraries. */
    private static final Map<String, String> OTHER_NAMES =
            Map.of("transactions", "--transaction-count");

    private UsageMessage() {}

    /** The message for a refused command line. */
    static String of(ParameterException failure) {
        return switch (failure) {
            case UnmatchedArgumentException unmatched ->
                    unmatched(unmatched.getCommandLine(), unmatched.getUnmatched().getFirst());
            case MissingParameterException missing -> missingOrMistyped(missing);
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

    /**
     * Names the option of a value that a library has refused, which knows no options: the one that
     * is called like the first key.
     */
    private static String withOption(CommandLine command, String message) {
        Matcher key = FIRST_KEY.matcher(message);
        if (!key.find() || key.group(1).equals("option") || key.group(1).equals("options")) {
            return message;
        }
        String option =
                OTHER_NAMES.getOrDefault(
                        key.group(1),
                        "--" + key.group(1).replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT));
        return command.getCommandSpec().findOption(option) == null
                ? message
                : ofOption(option, message);
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
        return visible(group).map(Map.Entry::getKey).collect(Collectors.joining(", "));
    }

    /** The message for a word that is no command of the group. */
    static String noSuchCommand(CommandLine group, String word) {
        boolean isGroup = !group.getSubcommands().isEmpty();
        String expected =
                isGroup
                        ? "one of " + commandsOf(group)
                        : "no command of `" + group.getCommandSpec().qualifiedName() + "`";
        return "no such command: command="
                + word
                + ", expected="
                + expected
                + Suggestions.question(similarCommands(group, word));
    }

    /** Commands of the group that are like the word; if there are none, those of all groups. */
    private static List<String> similarCommands(CommandLine group, String word) {
        List<String> here = Suggestions.of(word, visible(group).map(Map.Entry::getKey).toList());
        if (!here.isEmpty()) {
            return here;
        }
        CommandLine root = group.getCommandSpec().root().commandLine();
        Map<String, String> pathsByName = new LinkedHashMap<>();
        collectPaths(root, pathsByName);
        return Suggestions.of(word, pathsByName.keySet()).stream()
                .map(name -> "`" + pathsByName.get(name) + "`")
                .toList();
    }

    private static void collectPaths(CommandLine group, Map<String, String> pathsByName) {
        visible(group)
                .forEach(one -> {
                    CommandLine command = one.getValue();
                    pathsByName.putIfAbsent(one.getKey(), command.getCommandSpec().qualifiedName());
                    collectPaths(command, pathsByName);
                });
    }

    /** The names of the options that the help shows. */
    private static List<String> optionsOf(CommandLine command) {
        return command.getCommandSpec().options().stream()
                .filter(option -> !option.hidden())
                .map(OptionSpec::longestName)
                .toList();
    }

    private static Stream<Map.Entry<String, CommandLine>> visible(CommandLine group) {
        return group.getSubcommands().entrySet().stream()
                .filter(one -> !one.getValue().getCommandSpec().usageMessage().hidden());
    }

    /** A value may be missing since its option is mistyped, which picocli finds out later. */
    private static String missingOrMistyped(MissingParameterException failure) {
        CommandLine command = failure.getCommandLine();
        return command.getUnmatchedArguments().stream()
                .filter(argument -> argument.startsWith("-"))
                .findFirst()
                .map(argument -> unmatched(command, argument))
                .orElseGet(() -> missing(failure.getMissing()));
    }

    private static String unmatched(CommandLine command, String found) {
        if (found.startsWith("-") && found.length() > 1) {
            return "no such option: option="
                    + found
                    + ", expected=an option of `"
                    + command.getCommandSpec().qualifiedName()
                    + "`"
                    + Suggestions.question(
                            Suggestions.of(found.replaceFirst("=.*", ""), optionsOf(command)));
        }
        if (!command.getSubcommands().isEmpty()) {
            return noSuchCommand(command, found);
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
            return withOption(failure.getCommandLine(), String.valueOf(failure.getMessage()));
        }
        String reason = "";
        if (failure.getCause() instanceof TypeConversionException refused) {
            reason = String.valueOf(refused.getMessage());
        }
        if (!reason.contains("=")) { // a converter of picocli
            return Text.format(
                    "value is illegal: %s=%s, value=%s, expected=%s",
                    keyOf(of),
                    nameOf(of),
                    failure.getValue(),
                    isInteger(of) ? "a whole number" : of.paramLabel());
        }
        return of.isOption() ? ofOption(nameOf(of), reason) : reason;
    }

    private static boolean isInteger(ArgSpec of) {
        Class<?> type = of.type();
        return type == int.class || type == long.class || type == Long.class;
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
