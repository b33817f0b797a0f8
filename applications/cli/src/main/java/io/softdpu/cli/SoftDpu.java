package io.softdpu.cli;

import io.softdpu.cli.log.LogLevel;
import io.softdpu.cli.log.Logging;
import io.softdpu.cli.options.LogLevelConverter;
import io.softdpu.cli.options.PathConverter;
import io.softdpu.core.Status;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Text;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The {@code softdpu} command: the root of the command tree, and the program's main class. */
@Command(
        name = "softdpu",
        description = "A software DPU: the DOCA programming model on any Linux machine.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:failed",
            "2:the command line is wrong, or a file for results cannot be written",
            "3:data arrived that differs from what was expected",
            "130:interrupted (SIGINT)",
            "141:output was lost: the reader of its pipe has closed it, as head does",
            "143:terminated (SIGTERM)"
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu demo",
            "  softdpu doctor",
            "  softdpu sample --list",
            "  softdpu help storage target"
        })
public final class SoftDpu implements Callable<Integer> {
    /** In the order of the help. */
    private static final List<Class<?>> COMMANDS =
            List.of(
                    DemoCommand.class,
                    DoctorCommand.class,
                    SampleCommand.class,
                    StorageCommand.class,
                    PerfCommand.class,
                    DevicesCommand.class,
                    TopologyCommand.class,
                    CapsCommand.class,
                    PacketsCommand.class,
                    DocsCommand.class,
                    CompletionCommand.class,
                    HelpCommand.class);

    @Spec private @Nullable CommandSpec spec;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli handles it
    private boolean help;

    @Option(
            names = {"-v", "-V", "--version"},
            versionHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show the version and exit.")
    @SuppressWarnings("UnusedVariable") // picocli handles it
    private boolean version;

    @Option(
            names = {"-l", "--log-level"},
            paramLabel = "LEVEL",
            converter = LogLevelConverter.class,
            scope = ScopeType.INHERIT,
            description = {
                "Log level of standard error, by number or name: 10=DISABLE, 20=CRITICAL,"
                        + " 30=ERROR, 40=WARNING, 50=INFO, 60=DEBUG, 70=TRACE (default: 50 for"
                        + " the storage commands, else 40)."
            },
            completionCandidates = LogLevelConverter.class)
    private @Nullable LogLevel logLevel;

    @Option(
            names = "--sdk-log-level",
            paramLabel = "LEVEL",
            converter = LogLevelConverter.class,
            scope = ScopeType.INHERIT,
            description =
                    "Log level of the libraries, on the same scale (default: 40); -l is that of the"
                            + " program.",
            completionCandidates = LogLevelConverter.class)
    private @Nullable LogLevel sdkLogLevel;

    @Option(
            names = {"-q", "--quiet"},
            scope = ScopeType.INHERIT,
            description = "Log warnings and errors only, as --log-level warning does.")
    private boolean quiet;

    private final List<String> arguments;

    private SoftDpu(List<String> arguments) {
        this.arguments = arguments;
    }

    /** Runs the command and ends the process with one of the codes of {@link ExitCode}. */
    public static void main(String[] arguments) {
        Locale.setDefault(Locale.ROOT); // for libraries that format with the default locale
        int code;
        try {
            CommandLine command = commandLine(arguments);
            code = execute(command, arguments);
            code = checkOutput(code, System.out, Terminal.isStandardOutputPipe(), command.getErr());
        } catch (Error e) { // out of threads, descriptors or memory; a class that is missing
            code = FatalErrors.report(e, System.err);
        }
        System.exit(code);
    }

    /**
     * Executes a command line and returns its exit code; reads the file with flags that it may
     * name.
     */
    static int execute(CommandLine command, String... arguments) {
        String[] all;
        try {
            requireRepresentable(command, arguments);
            all = FlagFileArguments.expand(command, arguments);
        } catch (ParameterException e) {
            return Errors.refusedCommandLine(e, arguments);
        }
        return command.execute(all);
    }

    /** Refuses arguments that the JVM could not decode, whatever they are for. */
    private static void requireRepresentable(CommandLine command, String... arguments) {
        String previous = "";
        for (String argument : arguments) {
            boolean isOption = argument.startsWith("-");
            String name = isOption ? argument.replaceFirst("(?s)=.*", "") : previous;
            boolean isNamed = name.matches("-[\\w-]+"); // a short one may have its value behind it
            GivenText.text(
                    isNamed ? "option=" + name : "",
                    isNamed && isOption ? argument.substring(argument.indexOf('=') + 1) : argument,
                    refusal -> new ParameterException(command, refusal));
            previous = argument;
        }
    }

    /**
     * Fails if output was lost: a print stream only records failures, so a full disk would end with
     * 0. Without an error where it is a pipe, which a reader such as {@code head} may close.
     */
    static int checkOutput(int code, PrintStream out, boolean isPipe, PrintWriter err) {
        if (!out.checkError() || code != ExitCode.OK.code()) {
            return code;
        }
        if (isPipe) {
            return ExitCode.PIPE_CLOSED.code();
        }
        err.println(
                Errors.line(
                        Status.IO_FAILED,
                        "output cannot be written: to=standard output, expected=free space"));
        err.flush();
        return ExitCode.FAILED.code();
    }

    /**
     * The command tree; if the first argument names a command, the part that this one needs.
     *
     * @param arguments of the process: also for commands that start child processes
     */
    public static CommandLine commandLine(String... arguments) {
        SoftDpu root = new SoftDpu(List.of(arguments));
        CommandLine command = new CommandLine(root);
        neededCommands(arguments).forEach(command::addSubcommand);
        CommandLine samples = command.getSubcommands().get("sample");
        if (samples != null) {
            SampleCommand.addSamples(samples);
        }
        completeEverywhere(command);
        // An argument that begins with @ is an argument; picocli would open a file of that name.
        return command.setExpandAtFiles(false)
                .setHelpFactory(CommandHelp::new)
                .setParameterExceptionHandler(Errors::refusedCommandLine)
                .setExecutionExceptionHandler(Errors::failedExecution)
                .registerConverter(Path.class, new PathConverter())
                // Those of picocli take the digits of all scripts.
                .registerConverter(int.class, Text::parseInt)
                .registerConverter(long.class, Text::parseLong)
                .registerConverter(Long.class, Text::parseLong)
                .setExecutionStrategy(root::execute);
    }

    /**
     * The command that the first argument names; all, where it names none or one that describes
     * all. Reading the annotations of all takes longer than most commands.
     */
    private static List<Class<?>> neededCommands(String... arguments) {
        String first = arguments.length == 0 ? "" : arguments[0];
        for (Class<?> type : COMMANDS) {
            boolean describesAll = type == HelpCommand.class || type == CompletionCommand.class;
            if (!describesAll && type.getAnnotation(Command.class).name().equals(first)) {
                return List.of(type);
            }
        }
        return COMMANDS;
    }

    /** Sets what commands do not inherit: the version provider and the layout of the help. */
    private static void completeEverywhere(CommandLine command) {
        command.getCommandSpec().versionProvider(new Version());
        command.getCommandSpec()
                .usageMessage()
                .descriptionHeading("%n")
                .parameterListHeading("%nArguments:%n")
                .optionListHeading("%nOptions:%n")
                .commandListHeading("%nCommands:%n");
        command.getSubcommands().values().forEach(SoftDpu::completeEverywhere);
    }

    /** The arguments after the main class on the command line of this process. */
    public List<String> arguments() {
        return arguments;
    }

    /** Prints the overview. */
    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        command.usage(command.getOut());
        command.getOut().flush();
        return ExitCode.OK.code();
    }

    private int execute(CommandLine.ParseResult parsed) {
        CommandLine leaf = parsed.asCommandLineList().getLast();
        Logging.setLevel(logLevel(leaf));
        Logging.setSdkLevel(sdkLogLevel == null ? LogLevel.WARNING : sdkLogLevel);
        if (showsHelp(parsed, leaf)) {
            Objects.requireNonNull(spec).commandLine().setUsageHelpWidth(HelpWidth.columns());
        }
        return new CommandLine.RunLast().execute(parsed);
    }

    private LogLevel logLevel(CommandLine leaf) {
        if (logLevel != null && quiet) {
            throw new ParameterException(
                    leaf,
                    "options exclude each other: options=[--log-level, --quiet],"
                            + " expected=one of them");
        }
        if (logLevel != null) {
            return logLevel;
        }
        boolean isRole = leaf.getCommand() instanceof RoleCommand;
        return isRole && !quiet ? LogLevel.INFO : LogLevel.WARNING;
    }

    /** True for commands that print a help text; the width of the terminal costs a native call. */
    private static boolean showsHelp(CommandLine.ParseResult parsed, CommandLine leaf) {
        return parsed.asCommandLineList().stream().anyMatch(CommandLine::isUsageHelpRequested)
                || leaf.getCommand() instanceof HelpCommand
                || leaf.getCommand() instanceof SoftDpu;
    }
}
