package io.softdpu.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code softdpu storage}: the group of the three roles and of volumes; needs one of them. */
@Command(
        name = StorageCommand.NAME,
        description = {
            "Runs one of the three programs of the zero-copy storage pipeline, or shows a volume.",
            "Start the three in three terminals, in the order of the examples; all end with the"
                    + " initiator."
        },
        subcommands = {
            TargetCommand.class,
            ZeroCopyCommand.class,
            InitiatorCommand.class,
            VolumeCommand.class
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu storage target -d t0 --cpu any \\",
            "    --listen-port 12345 --volume memory:64MiB",
            "  softdpu storage zero-copy -d 03:00.0 --cpu any \\",
            "    -r 0b:00.0 --storage-server 127.0.0.1:12345",
            "  softdpu storage initiator -d 0b:00.0 --cpu any \\",
            "    --execution-strategy read_write_data_validity_test"
        })
final class StorageCommand implements Callable<Integer> {
    /** Its name. */
    static final String NAME = "storage";

    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        throw Errors.missingSubcommand(Objects.requireNonNull(spec).commandLine());
    }
}
