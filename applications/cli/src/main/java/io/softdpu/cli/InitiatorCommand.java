package io.softdpu.cli;

import io.softdpu.cli.options.SecondsConverter;
import io.softdpu.cli.options.SecondsOrNoneConverter;
import io.softdpu.cli.options.SizeConverter;
import io.softdpu.cli.options.SizeOrZeroConverter;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.child.PhaseSpec;
import io.softdpu.perf.child.ProgressPrinter;
import io.softdpu.perf.storage.StorageTable;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.StorageRole;
import io.softdpu.storage.initiator.InitiatorListener;
import io.softdpu.storage.initiator.InitiatorOptions;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.workload.ExecutionStrategy;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.StrategySettings;
import io.softdpu.storage.workload.Workload;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code softdpu storage initiator}: the host role of the storage pipeline. */
@Command(
        name = "initiator",
        description = {
            "Reads and writes the volume through the zero-copy service, and prints statistics.",
            "Runs on the host (side host).",
            StorageTable.HELP,
            SizeConverter.HELP
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu storage initiator -d 0b:00.0 --cpu any \\",
            "    --execution-strategy read_write_data_validity_test",
            "  softdpu storage initiator -d 0b:00.0 --cpu any \\",
            "    --transaction-count 64 \\",
            "    --execution-strategy read_throughput_test",
            "  softdpu storage initiator -j flags.json"
        })
final class InitiatorCommand extends RoleCommand {
    @ArgGroup(multiplicity = "1")
    private Work work = new Work();

    /** The names of the strategies, for completion. */
    private static final class StrategyNames implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Arrays.stream(ExecutionStrategy.values())
                    .map(ExecutionStrategy::optionName)
                    .iterator();
        }
    }

    /** The workload: a strategy for users, phases from a parent. */
    private static final class Work {
        @Option(
                names = "--execution-strategy",
                paramLabel = "STRATEGY",
                description = {
                    "The workload, one of:",
                    "read_throughput_test, write_throughput_test: sequential operations, wrapping"
                            + " at the end of the volume, up to --run-limit-operation-count.",
                    "read_write_data_validity_test: write the whole volume, read it, compare.",
                    "read_only_data_validity_test: read the whole volume, compare with"
                            + " --storage-plain-content."
                },
                completionCandidates = StrategyNames.class)
        private @Nullable String executionStrategy;

        @Option(names = "--phase", hidden = true, paramLabel = "PHASE")
        private List<String> phases = List.of();
    }

    @Option(
            names = "--storage-plain-content",
            paramLabel = "FILE",
            description = "The expected content of the volume; as large as the volume.")
    private @Nullable Path plainContent;

    @Option(
            names = "--run-limit-operation-count",
            paramLabel = "N",
            defaultValue = "" + StorageDefaults.RUN_LIMIT_OPERATION_COUNT,
            description =
                    "Operations of a throughput test on each core (default: ${DEFAULT-VALUE}).")
    private long runLimitOperationCount;

    @Option(
            names = "--warm-up",
            paramLabel = "SECONDS",
            converter = SecondsOrNoneConverter.class,
            defaultValue = "1",
            description = {
                "Time of the same operations before a throughput test, which new processes need to"
                    + " reach their speed; not measured, but among the operations that all three"
                    + " processes count; 0: none (default: ${DEFAULT-VALUE})."
            })
    private Duration warmUp = Duration.ZERO;

    @Option(
            names = "--transaction-count",
            paramLabel = "N",
            defaultValue = "" + StorageDefaults.TRANSACTION_COUNT,
            description = "Operations in flight on each core at most (default: ${DEFAULT-VALUE}).")
    private int transactionCount;

    @Option(
            names = "--blocks-per-io",
            paramLabel = "N",
            defaultValue = "" + StorageDefaults.BLOCKS_PER_IO,
            description = "Blocks that one operation moves (default: ${DEFAULT-VALUE}).")
    private int blocksPerIo;

    @Option(
            names = "--command-channel-name",
            paramLabel = "NAME",
            defaultValue = StorageDefaults.COMMAND_CHANNEL_NAME,
            description = "The name of the service's Comch server (default: ${DEFAULT-VALUE}).")
    private String commandChannelName = "";

    @Option(
            names = "--control-timeout",
            paramLabel = "SECONDS",
            converter = SecondsConverter.class,
            defaultValue = "5",
            description = {
                "Timeout of each control operation, and of the search for the service (default:"
                        + " ${DEFAULT-VALUE})."
            })
    private Duration controlTimeout = Duration.ZERO;

    @Option(
            names = "--local-io-region-size",
            paramLabel = "SIZE",
            converter = SizeOrZeroConverter.class,
            defaultValue = "0",
            description = {
                "Size of the memory for the data; 0: the size of the volume, which the validity"
                        + " tests need (default: ${DEFAULT-VALUE})."
            })
    private long localIoRegionSize;

    @Option(
            names = "--max-memory",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = {
                "Limit on the memory for the data (default: half of the free memory of the machine"
                        + " or of the memory cgroup, whichever is less)."
            })
    private @Nullable Long maxMemory;

    @Override
    Side side() {
        return Side.HOST;
    }

    @Override
    void checkOptions() {
        super.checkOptions();
        atLeastOne("--run-limit-operation-count", runLimitOperationCount);
        atLeastOne("--transaction-count", transactionCount);
        atLeastOne("--blocks-per-io", blocksPerIo);
        workload();
    }

    @Override
    StorageRole open(Machine machine, PeerWait steps) {
        checkPlainContent();
        InitiatorOptions options =
                InitiatorOptions.builder()
                        .device(device())
                        .cpus(cpus())
                        .waitMode(waitMode())
                        .commandChannelName(commandChannelName)
                        .controlTimeout(controlTimeout)
                        .transactionCount(transactionCount)
                        .localIoRegionSizeBytes(localIoRegionSize)
                        .maxMemoryBytes(maxMemory == null ? 0 : maxMemory)
                        .build();
        InitiatorListener listener =
                work.phases.isEmpty() ? steps : new ProgressPrinter(spec().commandLine().getOut());
        return StorageInitiator.open(machine, options, workload(), listener);
    }

    @Override
    @Nullable String nextStep(@Nullable SessionStep step, DpuException failure, Topology card) {
        boolean isMissing =
                failure.status() == Status.NOT_FOUND || failure.status() == Status.TIME_OUT;
        if (step != SessionStep.CONNECTING_TO_SERVICE || !isMissing) {
            return null;
        }
        PciFunction function =
                card.functionsOf(Side.HOST).stream()
                        .filter(one -> isNamed(one, device()))
                        .findFirst()
                        .orElse(null);
        PciFunction port = function == null ? null : card.parentOf(function).orElse(null);
        if (function == null || port == null) {
            return "start the service first: see `softdpu help storage zero-copy`";
        }
        boolean isDefault = commandChannelName.equals(StorageDefaults.COMMAND_CHANNEL_NAME);
        return Text.format(
                "start the service first, with the same SOFTDPU_FABRIC: `softdpu storage zero-copy"
                        + " -d %s --cpu any -r %s --storage-server 127.0.0.1:12345%s%s`",
                port.interfaceName(),
                Objects.requireNonNullElse(
                        function.representor(), function.pciAddress().shortForm()),
                isDefault ? "" : " --command-channel-name " + commandChannelName,
                topologyArguments());
    }

    private static boolean isNamed(PciFunction function, String name) {
        return function.interfaceName().equals(name)
                || function.ibdevName().equals(name)
                || function.pciAddress().shortForm().equals(name)
                || function.pciAddress().longForm().equals(name);
    }

    /** Checks the file before the search for a service. */
    private void checkPlainContent() {
        if (plainContent == null) {
            return;
        }
        try (CheckedFile _ = CheckedFile.open(plainContent, FilePolicy.USER_DATA)) {
            return;
        } catch (FileRefusedException e) {
            throw unreadable(Status.INVALID_VALUE, e.reason(), e);
        } catch (NoSuchFileException e) {
            throw unreadable(Status.NOT_FOUND, "it does not exist", e);
        } catch (IOException e) {
            throw unreadable(Status.INVALID_VALUE, Reason.of(e), e);
        }
    }

    private DpuException unreadable(Status status, String reason, IOException cause) {
        return new DpuException(
                status,
                "plain content cannot be read: option=--storage-plain-content, file="
                        + plainContent
                        + ", reason="
                        + reason
                        + ", expected=a regular file that this user may read",
                cause);
    }

    private Workload workload() {
        try {
            if (work.executionStrategy != null) {
                return workload(ExecutionStrategy.of(work.executionStrategy));
            }
            return new Workload(
                    work.phases.stream()
                            .map(text -> PhaseSpec.parse(text).toPhase(plainContent))
                            .toList());
        } catch (DpuException | IllegalArgumentException e) {
            throw usage(Reason.of(e), e);
        }
    }

    private Workload workload(ExecutionStrategy strategy) {
        Workload asked =
                strategy.workload(
                        new StrategySettings(
                                runLimitOperationCount,
                                transactionCount,
                                blocksPerIo,
                                plainContent));
        boolean measures =
                strategy == ExecutionStrategy.READ_THROUGHPUT_TEST
                        || strategy == ExecutionStrategy.WRITE_THROUGHPUT_TEST;
        return measures && warmUp.isPositive()
                ? new Workload(
                        List.of(warmUp(asked.phases().getFirst()), asked.phases().getFirst()))
                : asked;
    }

    /** The phase that does the same for the time of the option. */
    private Phase warmUp(Phase measured) {
        Phase.Builder phase =
                measured.type() == IoType.READ
                        ? Phase.read(StorageTable.WARM_UP)
                        : Phase.write(StorageTable.WARM_UP);
        return phase.ioSize(measured.ioSize())
                .transactions(measured.transactions())
                .timeLimit(warmUp)
                .build();
    }

    private void atLeastOne(String option, long value) {
        if (value < 1) {
            throw usage(
                    "value is illegal: option="
                            + option
                            + ", value="
                            + value
                            + ", expected=1 or more",
                    null);
        }
    }

    private ParameterException usage(String message, @Nullable Throwable cause) {
        return new ParameterException(spec().commandLine(), message, cause);
    }
}
