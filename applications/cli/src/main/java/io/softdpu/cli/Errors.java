package io.softdpu.cli;

import io.softdpu.cli.log.Logging;
import io.softdpu.cli.log.StackTraces;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import io.softdpu.perf.child.ErrorLine;
import io.softdpu.samples.WrongDataException;
import io.softdpu.storage.initiator.DataMismatchException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * Turns the failure of a command into a line on standard error and an exit code. The line is {@code
 * softdpu: STATUS: reason: key=value, key=value}, for a wrong command line without the status; a
 * stack trace follows from log level DEBUG on.
 */
final class Errors {
    private Errors() {}

    /** The line of an error without its line end. */
    static String line(Status status, String message) {
        return ErrorLine.of(status, message);
    }

    /** For picocli: reports a command line that it, or a check of ours, has refused. */
    static int refusedCommandLine(ParameterException failure, String[] arguments) {
        CommandLine command = failure.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("softdpu: " + ForeignText.escape(UsageMessage.of(failure)));
        err.println(
                "softdpu: see `" + command.getCommandSpec().qualifiedName() + " --help` for usage");
        printStackTrace(failure, err);
        return ExitCode.USAGE.code();
    }

    /** For a group of commands that was called without one; hidden commands are not named. */
    static ParameterException missingSubcommand(CommandLine group) {
        return new ParameterException(
                group, "command is missing: expected=one of " + UsageMessage.commandsOf(group));
    }

    /** For picocli: reports an exception of a command. */
    static int failedExecution(
            Exception failure, CommandLine command, CommandLine.ParseResult parsed) {
        return report(failure, command.getErr()).code();
    }

    /** Prints the error, with the next step if there is a usual one, and returns its exit code. */
    static ExitCode report(Exception failure, PrintWriter err) {
        return report(failure, NextStep.after(failure).orElse(null), err);
    }

    /**
     * Prints the error and returns its exit code.
     *
     * @param nextStep printed on a line of its own; null: none
     */
    static ExitCode report(Exception failure, @Nullable String nextStep, PrintWriter err) {
        err.println(describe(failure));
        if (nextStep != null) {
            err.println("softdpu: " + nextStep);
        }
        printStackTrace(failure, err);
        err.flush();
        return codeOf(failure);
    }

    /** The exit code of a failure. */
    static ExitCode codeOf(Exception failure) {
        boolean dataWrong =
                failure instanceof DataMismatchException || failure instanceof WrongDataException;
        return dataWrong ? ExitCode.DATA_WRONG : ExitCode.FAILED;
    }

    /** The line of a failure; more than one where its message has more (a hex dump). */
    static String describe(Exception failure) {
        return failure instanceof DpuException dpu
                ? line(dpu.status(), String.valueOf(dpu.getMessage()))
                // Anything else is a defect; its class is in the stack trace.
                : line(
                        Status.UNKNOWN,
                        "internal error: reason=" + ForeignText.escape(Reason.naming(failure)));
    }

    private static void printStackTrace(Exception failure, PrintWriter err) {
        if (Logging.level().showsStackTraces()) {
            err.print(StackTraces.of(failure));
        }
    }
}
