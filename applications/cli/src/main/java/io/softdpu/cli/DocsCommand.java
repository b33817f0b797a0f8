package io.softdpu.cli;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * {@code softdpu docs}, for the help and the completion of the shell: the launchers know where the
 * Javadoc is, and carry out the command themselves.
 */
@Command(
        name = "docs",
        description = {
            "Prints the path of the first page of the Javadoc of all libraries.",
            "In a source tree the first call makes the pages, in half a minute."
        },
        footerHeading = Examples.HEADING,
        footer = "  softdpu docs")
final class DocsCommand implements Callable<Integer> {
    @Override
    public Integer call() {
        throw new DpuException(
                Status.NOT_SUPPORTED,
                "docs is a command of the launchers: command=docs, expected=./softdpu docs in a"
                        + " source tree, or bin/softdpu docs in an archive");
    }
}
