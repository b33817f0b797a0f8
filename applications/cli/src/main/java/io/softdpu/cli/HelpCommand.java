package io.softdpu.cli;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softdpu help}: prints the help of a command, or the overview. */
@Command(
        name = "help",
        helpCommand = true,
        description = "Prints the help of a command, or the overview of all commands.",
        footerHeading = Examples.HEADING,
        footer = {"  softdpu help demo", "  softdpu help storage target"})
final class HelpCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Parameters(
            paramLabel = "COMMAND",
            arity = "0..*",
            description = "The command, with its group before it if it has one.")
    private List<String> words = List.of();

    @Override
    public Integer call() {
        CommandLine own = Objects.requireNonNull(spec).commandLine();
        CommandLine found = own.getParent();
        for (int i = 0; i < words.size(); i++) {
            CommandLine next = found.getSubcommands().get(words.get(i));
            if (next == null) {
                if (words.size() - i <= parametersOf(found)) {
                    break;
                }
                throw new ParameterException(own, UsageMessage.noSuchCommand(found, words.get(i)));
            }
            found = next;
        }
        found.usage(own.getOut());
        own.getOut().flush();
        return ExitCode.OK.code();
    }

    /** The most parameters that a command takes; 0 for a group of commands. */
    private static int parametersOf(CommandLine command) {
        return command.getCommandSpec().positionalParameters().stream()
                .filter(parameter -> !parameter.hidden())
                .mapToInt(parameter -> parameter.arity().max())
                .sum();
    }
}
