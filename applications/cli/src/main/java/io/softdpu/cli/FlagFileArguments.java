package io.softdpu.cli;

import io.softdpu.cli.flags.FlagFile;
import io.softdpu.cli.flags.FlagFile.Flag;
import io.softdpu.cli.flags.FlagFile.Section;
import io.softdpu.cli.flags.FlagFile.Value;
import io.softdpu.cli.flags.FlagFile.ValueType;
import io.softdpu.cli.log.LogLevel;
import io.softdpu.core.DpuException;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Suggestions;
import io.softdpu.linux.text.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;

/**
 * Adds the flags of a {@link FlagFile} to the command line of a storage program, as arguments
 * before its own: a flag that the command line has is not taken from the file, with all its values.
 */
final class FlagFileArguments {
    /** The option that names the file. */
    static final String OPTION = "--json";

    /** Flags of the general section; the other options of all commands are for a terminal. */
    private static final List<String> GENERAL = List.of("log-level", "sdk-log-level");

    private static final Set<String> ONLY_ON_COMMAND_LINE =
            Set.of("help", "version", "json", "quiet");

    private final FlagFile file;
    private final CommandSpec program;

    private FlagFileArguments(FlagFile file, CommandSpec program) {
        this.file = file;
        this.program = program;
    }

    /**
     * The arguments with those of the file that they name; the same if they name none.
     *
     * @param command the command tree that is to parse them
     * @throws ParameterException if the file cannot be read or has other flags than the program
     */
    static String[] expand(CommandLine command, String[] arguments) {
        List<ParseResult> levels = parseLeniently(arguments);
        ParseResult leaf = levels.isEmpty() ? null : levels.getLast();
        if (leaf == null || !(leaf.commandSpec().userObject() instanceof RoleCommand)) {
            return arguments;
        }
        @Nullable Path named = leaf.matchedOptionValue(OPTION, null);
        if (named == null || leaf.isUsageHelpRequested() || leaf.isVersionHelpRequested()) {
            return arguments;
        }
        CommandSpec program = leaf.commandSpec();
        try {
            FlagFile file = FlagFile.read(named);
            List<String> added = new FlagFileArguments(file, program).without(matchedNames(levels));
            List<String> all = new ArrayList<>(Arrays.asList(arguments));
            int group = all.indexOf(StorageCommand.NAME);
            int role = group + 1 + all.subList(group + 1, all.size()).indexOf(program.name());
            all.addAll(role + 1, added);
            return all.toArray(String[]::new);
        } catch (DpuException e) {
            throw new ParameterException(roleOf(command, program.name()), Reason.of(e), e);
        }
    }

    private static CommandLine roleOf(CommandLine root, String role) {
        CommandLine group = root.getSubcommands().get(StorageCommand.NAME);
        return Objects.requireNonNull(
                Objects.requireNonNull(group, "a command of softdpu").getSubcommands().get(role),
                "a command of the group");
    }

    /** The commands that the arguments name, with what could be parsed; empty: no flag file. */
    private static List<ParseResult> parseLeniently(String[] arguments) {
        List<ParseResult> levels = new ArrayList<>();
        if (Arrays.stream(arguments).noneMatch(one -> one.startsWith("-") && one.contains("j"))) {
            return levels; // spares the other commands a second command tree
        }
        CommandLine lenient = SoftDpu.commandLine(arguments);
        collectErrors(lenient);
        ParseResult level = lenient.parseArgs(arguments);
        levels.add(level);
        while (level.hasSubcommand()) {
            level = level.subcommand();
            levels.add(level);
        }
        return levels;
    }

    private static void collectErrors(CommandLine command) {
        command.getCommandSpec().parser().collectErrors(true);
        command.getSubcommands().values().forEach(FlagFileArguments::collectErrors);
    }

    private static Set<String> matchedNames(List<ParseResult> levels) {
        Set<String> names = new HashSet<>();
        for (ParseResult level : levels) {
            level.matchedOptions().forEach(option -> names.add(nameOf(option)));
        }
        if (names.contains("quiet")) {
            names.add("log-level"); // which it sets
        }
        return names;
    }

    private static String nameOf(OptionSpec option) {
        return option.longestName().substring("--".length());
    }

    /** The arguments for all flags but those that the command line has. */
    private List<String> without(Set<String> onCommandLine) {
        List<String> arguments = new ArrayList<>();
        for (Flag flag : file.flags()) {
            OptionSpec option = optionOf(flag);
            check(flag, option);
            if (onCommandLine.contains(flag.name())) {
                continue;
            }
            for (Value value : flag.values()) {
                arguments.add("--" + flag.name() + "=" + value.text());
            }
        }
        return arguments;
    }

    private OptionSpec optionOf(Flag flag) {
        List<String> accepted = flag.section() == Section.GENERAL ? GENERAL : namesOfProgram();
        if (!accepted.contains(flag.name())) {
            throw FlagFile.refused(
                    "no such flag",
                    file.source(),
                    flag.line(),
                    flag.name(),
                    "section=" + flag.section().key(),
                    "one of "
                            + accepted
                            + Suggestions.question(Suggestions.of(flag.name(), accepted)));
        }
        return Objects.requireNonNull(program.findOption("--" + flag.name()), "accepted");
    }

    private List<String> namesOfProgram() {
        return program.options().stream()
                .filter(option -> !option.hidden())
                .map(FlagFileArguments::nameOf)
                .filter(name -> !GENERAL.contains(name) && !ONLY_ON_COMMAND_LINE.contains(name))
                .toList();
    }

    private void check(Flag flag, OptionSpec option) {
        boolean isRepeatable = option.typeInfo().isMultiValue();
        if (flag.isArray() && (!isRepeatable || flag.values().isEmpty())) {
            throw FlagFile.refused(
                    "value is of a wrong type",
                    file.source(),
                    flag.line(),
                    flag.name(),
                    "value=an array of " + flag.values().size(),
                    isRepeatable ? "one value or more" : "one value, no array");
        }
        Set<ValueType> types = typesOf(option);
        for (Value value : flag.values()) {
            if (!types.contains(value.type())) {
                throw FlagFile.refused(
                        "value is of a wrong type",
                        file.source(),
                        value.line(),
                        flag.name(),
                        "value="
                                + ForeignText.escapeAndCut(value.text())
                                + ", type="
                                + nameOf(value.type()),
                        String.join(
                                " or ", types.stream().map(FlagFileArguments::nameOf).toList()));
            }
            convert(flag, option, value);
        }
    }

    private static String nameOf(ValueType type) {
        return type.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /**
     * The types of JSON for what the option takes on a command line. A number is also taken as a
     * string, which is as on a command line.
     */
    private static Set<ValueType> typesOf(OptionSpec option) {
        Class<?> type = elementType(option);
        if (type == boolean.class) {
            return EnumSet.of(ValueType.BOOLEAN);
        }
        if (type == Duration.class) {
            return EnumSet.of(ValueType.WHOLE_NUMBER, ValueType.NUMBER, ValueType.STRING);
        }
        if (type == int.class
                || type == long.class
                || type == Long.class
                || type == CpuBinding.class
                || type == LogLevel.class) {
            return EnumSet.of(ValueType.WHOLE_NUMBER, ValueType.STRING);
        }
        return EnumSet.of(ValueType.STRING);
    }

    private static Class<?> elementType(OptionSpec option) {
        return option.typeInfo().isMultiValue()
                ? option.auxiliaryTypes()[0]
                : option.typeInfo().getType();
    }

    /** Converts a value as the command line will, so that an error names its place in the file. */
    private void convert(Flag flag, OptionSpec option, Value value) {
        try {
            for (ITypeConverter<?> converter : option.converters()) {
                for (String part : partsOf(value, option)) {
                    converter.convert(part);
                }
            }
            Class<?> type = elementType(option);
            boolean isPlain = option.converters().length == 0;
            if (isPlain && type == int.class) {
                int _ = Text.parseInt(value.text());
            } else if (isPlain && (type == long.class || type == Long.class)) {
                long _ = Text.parseLong(value.text());
            }
        } catch (NumberFormatException e) {
            throw illegal(flag, value, "a number up to " + maximumOf(elementType(option)), e);
        } catch (TypeConversionException e) {
            String message = Reason.of(e);
            int expected = message.indexOf("expected=");
            throw illegal(
                    flag,
                    value,
                    expected < 0
                            ? option.paramLabel()
                            : message.substring(expected + "expected=".length()),
                    e);
        } catch (Exception e) {
            throw illegal(flag, value, option.paramLabel(), e);
        }
    }

    /** The values of a text that the command line would split. */
    private static String[] partsOf(Value value, OptionSpec option) {
        return option.splitRegex().isEmpty()
                ? new String[] {value.text()}
                : value.text().split(option.splitRegex(), -1);
    }

    private static long maximumOf(Class<?> type) {
        return type == int.class ? Integer.MAX_VALUE : Long.MAX_VALUE;
    }

    private DpuException illegal(Flag flag, Value value, String expected, Exception cause) {
        return FlagFile.refused(
                "value is illegal",
                file.source(),
                value.line(),
                flag.name(),
                "value=" + ForeignText.escapeAndCut(value.text()),
                expected,
                cause);
    }
}
