package io.softdpu.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code softdpu storage}: the group of the three roles; needs one of them. */
@Command(
        name = "storage",
        description = "The three programs of the zero-copy storage pipeline.",
        subcommands = {TargetCommand.class, ZeroCopyCommand.class, InitiatorCommand.class})
final class StorageCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        throw Errors.missingSubcommand(Objects.requireNonNull(spec).commandLine());
    }
}
