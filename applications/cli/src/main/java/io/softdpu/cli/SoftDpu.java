package io.softdpu.cli;

import io.softdpu.cli.log.LogLevel;
import io.softdpu.cli.log.Logging;
import io.softdpu.cli.options.LogLevelConverter;
import io.softdpu.core.Status;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The {@code softdpu} command: the root of the command tree, and the program's main class. */
@Command(
        name = "softdpu",
        description = "A software DPU: the DOCA programming model on any Linux machine.",
        subcommands = {
            DemoCommand.class,
            StorageCommand.class,
            PerfCommand.class,
            DevicesCommand.class,
            TopologyCommand.class,
            CapsCommand.class,
            SampleCommand.class
        },
        footer = {
            "",
            "Exit codes: 0 done, 1 failed, 2 usage, 3 data wrong, 130 interrupted, 143 terminated."
        })
public final class SoftDpu implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli handles it
    private boolean help;

    @Option(
            names = {"-v", "--version"},
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
            })
    private @Nullable LogLevel logLevel;

    private final List<String> arguments;

    private SoftDpu(List<String> arguments) {
        this.arguments = arguments;
    }

    /** Runs the command and ends the process with one of the codes of {@link ExitCode}. */
    public static void main(String[] arguments) {
        CommandLine command = commandLine(arguments);
        int code = command.execute(arguments);
        System.exit(
                checkOutput(code, System.out, Terminal.isStandardOutputPipe(), command.getErr()));
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

    /** The command tree. Commands that start child processes need the arguments. */
    static CommandLine commandLine(String... arguments) {
        SoftDpu root = new SoftDpu(List.of(arguments));
        CommandLine command = new CommandLine(root);
        SampleCommand.addSamples(
                Objects.requireNonNull(command.getSubcommands().get("sample"), "named above"));
        showVersionEverywhere(command);
        // An argument that begins with @ is an argument; picocli would open a file of that name.
        return command.setExpandAtFiles(false)
                .setParameterExceptionHandler(Errors::refusedCommandLine)
                .setExecutionExceptionHandler(Errors::failedExecution)
                .setExecutionStrategy(root::execute);
    }

    /** An inherited option does not inherit its version provider. */
    private static void showVersionEverywhere(CommandLine command) {
        command.getCommandSpec().versionProvider(new Version());
        command.getSubcommands().values().forEach(SoftDpu::showVersionEverywhere);
    }

    /** The arguments after the main class on the command line of this process. */
    public List<String> arguments() {
        return arguments;
    }

    @Override
    public Integer call() {
        throw Errors.missingSubcommand(Objects.requireNonNull(spec).commandLine());
    }

    private int execute(CommandLine.ParseResult parsed) {
        CommandLine leaf = parsed.asCommandLineList().getLast();
        boolean isRole = leaf.getCommand() instanceof RoleCommand;
        LogLevel byDefault = isRole ? LogLevel.INFO : LogLevel.WARNING;
        Logging.setLevel(logLevel == null ? byDefault : logLevel);
        return new CommandLine.RunLast().execute(parsed);
    }
}
