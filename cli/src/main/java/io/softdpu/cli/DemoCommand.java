package io.softdpu.cli;

import io.softdpu.cli.demo.ChildOutcome;
import io.softdpu.cli.demo.DemoOptions;
import io.softdpu.cli.demo.DemoResult;
import io.softdpu.cli.demo.DemoSession;
import io.softdpu.cli.demo.JvmCommand;
import io.softdpu.cli.log.Logging;
import io.softdpu.cli.options.SecondsConverter;
import io.softdpu.cli.options.SizeConverter;
import io.softdpu.core.Status;
import io.softdpu.storage.backend.MemoryVolume;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code softdpu demo}. */
@Command(
        name = "demo",
        description = {
            "Sends a volume through initiator, zero-copy service and target, three processes that"
                    + " this command starts: reads it all and compares, writes it all and reads it"
                    + " back, then measures.",
            "Ends with 0 only if all data was right and all three ended well."
        })
final class DemoCommand implements Callable<Integer> {
    private static final String STDOUT = "-";
    private static final String DEFAULT_SIZE = "64MiB";

    /** For a few lines, once all processes have ended. */
    private static final int LAST_WORDS_SECONDS = 5;

    @Spec private @Nullable CommandSpec spec;
    @ParentCommand private @Nullable SoftDpu root;

    @Option(
            names = "--volume",
            paramLabel = "FILE",
            description = "What the volume holds; the file stays as it is (default: a pattern).")
    private @Nullable Path volume;

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Bytes of a volume without a file (default: " + DEFAULT_SIZE + ").")
    private @Nullable Long size;

    @Option(
            names = "--block-size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            defaultValue = "4096",
            description = "Bytes of a block, a power of two (default: ${DEFAULT-VALUE}).")
    private long blockSize;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            converter = SecondsConverter.class,
            defaultValue = "3",
            description =
                    "How long each of the five measurements lasts (default: ${DEFAULT-VALUE}).")
    private Duration seconds = Duration.ZERO;

    @Option(
            names = "--json",
            paramLabel = "FILE|-",
            description =
                    "Write the results as JSON; -: to standard output, in place of the table.")
    private @Nullable String json;

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        int blockSizeBytes = BlockSize.check(command, blockSize);
        DemoOptions options =
                new DemoOptions(
                        volume,
                        sizeBytes(command, blockSizeBytes),
                        blockSizeBytes,
                        seconds.toNanos(),
                        Logging.level());
        checkJsonFile(command);
        JvmCommand jvm = JvmCommand.ofThisProcess(Objects.requireNonNull(root).arguments());
        DemoProgress progress = DemoProgress.onStandardError(command.getErr());
        DemoSession session = new DemoSession(options, jvm, progress);
        // Runs at the end of a normal exit, too; then there is nothing left to end.
        CountDownLatch said = new CountDownLatch(1);
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> onSignal(session, said), "softdpu-signal"));
        try {
            return run(session, options, progress, command);
        } catch (RuntimeException | IOException e) {
            // Here and not by picocli: after a signal the process ends with what has been said.
            return Errors.report(e, command.getErr()).code();
        } finally {
            said.countDown();
        }
    }

    private int run(
            DemoSession session, DemoOptions options, DemoProgress progress, CommandLine command)
            throws IOException {
        progress.begin(options, session.cpus());
        DemoResult result;
        try {
            result = session.run();
        } finally {
            progress.end();
        }
        if (session.interrupted()) {
            command.getErr()
                    .println(Errors.line(Status.CONNECTION_ABORTED, "User requested abort"));
            command.getErr().flush();
            return ExitCode.INTERRUPTED.code();
        }
        print(result, command.getOut());
        return verdict(result, command.getErr()).code();
    }

    /** The JVM ends when this returns, even if the main thread has not said yet what happened. */
    private static void onSignal(DemoSession session, CountDownLatch said) {
        session.interrupt();
        try {
            if (!said.await(LAST_WORDS_SECONDS, TimeUnit.SECONDS)) {
                System.getLogger(DemoCommand.class.getName())
                        .log(System.Logger.Level.WARNING, "demo did not end after a signal");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void print(DemoResult result, PrintWriter out) throws IOException {
        if (!STDOUT.equals(json)) {
            DemoTable.lines(result).forEach(out::println);
        }
        if (json != null) {
            String document = DemoJson.of(result);
            if (json.equals(STDOUT)) {
                out.println(document);
            } else {
                Files.writeString(Path.of(json), document + System.lineSeparator());
            }
        }
    }

    private static ExitCode verdict(DemoResult result, PrintWriter err) {
        if (result.valid()) {
            return ExitCode.OK;
        }
        Optional<ChildOutcome> culprit = result.culprit();
        if (culprit.isEmpty()) {
            err.println(
                    Errors.line(
                            Status.IO_FAILED,
                            "data is wrong: expected_sha256=%s, actual_sha256=%s, bytes_verified=%d"
                                    .formatted(
                                            result.expectedSha256(),
                                            result.actualSha256().orElse("none"),
                                            result.bytesVerified())));
            return ExitCode.DATA_WRONG;
        }
        sayWhoseFault(result, culprit.get(), err);
        int code = culprit.get().exitCode();
        return code == ExitCode.DATA_WRONG.code() ? ExitCode.DATA_WRONG : ExitCode.FAILED;
    }

    private static void sayWhoseFault(DemoResult result, ChildOutcome culprit, PrintWriter err) {
        err.println(
                Errors.line(
                        statusOf(culprit),
                        "demo failed: process=" + culprit.name() + ", " + culprit.howItEnded()));
        if (result.timedOut() != null) {
            err.println("  " + result.timedOut());
        }
        for (ChildOutcome outcome : result.outcomes()) {
            if (!outcome.ok()) {
                err.println("  " + outcome.name() + ": " + outcome.howItEnded());
                outcome.complaint().forEach(line -> err.println("    " + line));
            }
        }
    }

    /** The status in the process's own error line; one that a signal ended has none. */
    private static Status statusOf(ChildOutcome outcome) {
        List<String> complaint = outcome.complaint();
        for (Status status : Status.values()) {
            if (!complaint.isEmpty()
                    && complaint.getFirst().startsWith("softdpu: " + status + ":")) {
                return status;
            }
        }
        return Status.UNEXPECTED;
    }

    private long sizeBytes(CommandLine command, int blockSizeBytes) {
        if (volume != null) {
            if (size != null) {
                throw new ParameterException(
                        command,
                        "a volume from a file has the file's size: options=--volume, --size");
            }
            return MemoryVolume.sizeOf(volume, blockSizeBytes);
        }
        long sizeBytes = size == null ? SizeConverter.parse(DEFAULT_SIZE) : size;
        if (sizeBytes % blockSizeBytes != 0) {
            throw new ParameterException(
                    command,
                    "volume size is illegal: option=--size, size="
                            + sizeBytes
                            + ", expected=a multiple of --block-size="
                            + blockSizeBytes);
        }
        return sizeBytes;
    }

    /** Before the work, not after it: a minute's results would be lost. */
    private void checkJsonFile(CommandLine command) {
        if (json == null || json.equals(STDOUT)) {
            return;
        }
        Path file = Path.of(json);
        Path folder = Objects.requireNonNullElse(file.toAbsolutePath().getParent(), file);
        boolean writable =
                Files.exists(file)
                        ? Files.isRegularFile(file) && Files.isWritable(file)
                        : Files.isDirectory(folder) && Files.isWritable(folder);
        if (!writable) {
            throw new ParameterException(
                    command,
                    "file cannot be written: option=--json, file="
                            + json
                            + ", expected=a file in a folder that this user may write to");
        }
    }
}
