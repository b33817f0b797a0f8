package io.softdpu.cli;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softdpu completion}: prints a script by which a shell completes command lines. */
@Command(
        name = "completion",
        description = {
            "Prints the completion script of bash or zsh.",
            "By it the shell completes commands, options and their values.",
            "Source it in the shell, or in the file that the shell reads at start (~/.bashrc,"
                    + " ~/.zshrc)."
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu completion bash",
            "  source <(softdpu completion bash)",
            "  source <(softdpu completion zsh)"
        })
final class CompletionCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    /** Shells for which there is a script. */
    enum Shell {
        BASH,
        ZSH;

        /** The word on the command line. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The script is the same for both: it asks in which it runs, and uses zsh's bashcompinit. */
    @Parameters(paramLabel = "bash|zsh", description = "The shell.")
    @SuppressWarnings("UnusedVariable") // picocli checks it
    private @Nullable Shell shell;

    @Override
    public Integer call() {
        CommandLine own = Objects.requireNonNull(spec).commandLine();
        CommandLine root = own.getParent();
        PrintWriter out = own.getOut();
        out.print(AutoComplete.bash(root.getCommandName(), root));
        out.flush();
        return ExitCode.OK.code();
    }
}
