package io.softdpu.cli;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockUriException;
import io.softdpu.cli.card.NetworkOptions;
import io.softdpu.cli.card.ProviderOption;
import io.softdpu.cli.options.AddressConverter;
import io.softdpu.cli.options.SecondsConverter;
import io.softdpu.cli.options.SizeConverter;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Reason;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.child.ReadyLine;
import io.softdpu.perf.storage.StorageTable;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.StorageRole;
import io.softdpu.storage.server.StorageTarget;
import io.softdpu.storage.server.TargetOptions;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** {@code softdpu storage target}: the role that serves a volume. */
@Command(
        name = "target",
        description = {
            "Serves a volume to one zero-copy service.",
            "Runs on a machine of its own (side target), whose device is t0.",
            StorageTable.HELP,
            SizeConverter.HELP
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu storage target -d t0 --cpu any \\",
            "    --listen-port 12345 --volume memory:64MiB",
            "  softdpu storage target -d t0 --cpu 0,1 \\",
            "    --listen-port 0 --volume disk.img",
            "  softdpu storage target -d t0 --cpu any \\",
            "    --listen-port 12345 --volume \"file:disk.img?sync\"",
            "  softdpu storage target -d t0 --cpu any \\",
            "    --listen-port 12345 --binary-content volume.sbc",
            "  softdpu storage target -j flags.json"
        })
final class TargetCommand extends RoleCommand {
    private static final String MEMORY = "memory:";

    @Option(
            names = "--listen-port",
            required = true,
            paramLabel = "PORT",
            description = "The TCP port of the control channel; 0: a free port, which is printed.")
    private int listenPort;

    @Option(
            names = "--listen-address",
            paramLabel = "IP",
            converter = AddressConverter.class,
            defaultValue = StorageDefaults.LISTEN_ADDRESS,
            description = {
                "The address of the control channel (default: ${DEFAULT-VALUE}, this machine"
                        + " alone). Any program that reaches another address can connect: nothing"
                        + " is authenticated or encrypted, and control messages carry keys, with"
                        + " which the initiator's memory is read and written."
            })
    private InetAddress listenAddress = InetAddress.getLoopbackAddress();

    @Option(
            names = "--volume",
            paramLabel = "URI",
            description = {
                "The volume (default: memory for --block-count blocks): memory:SIZE, filled with a"
                        + " known pattern; FILE or copy:FILE, a copy in memory of a file, which is"
                        + " not changed; file:FILE?OPTIONS, the file itself, durable with the"
                        + " option sync; null:SIZE; fault:OPTIONS:URI. A file with a colon in its"
                        + " name is ./a:b."
            })
    private @Nullable String volume;

    @Option(
            names = "--binary-content",
            paramLabel = "FILE",
            description = {
                "A copy of a file as the volume: an .sbc file, whose header has its sizes, or a"
                        + " raw one of exactly --block-count blocks. Excludes --volume."
            })
    private @Nullable String binaryContent;

    @Option(
            names = "--block-count",
            paramLabel = "N",
            description = {
                "Blocks of the volume; ignored for an .sbc file (default: "
                        + StorageDefaults.BLOCK_COUNT
                        + "). Excludes --volume."
            })
    private @Nullable Long blockCount;

    @Option(
            names = "--block-size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            defaultValue = "" + StorageDefaults.BLOCK_SIZE_BYTES,
            description = {
                "Size of a block, a power of two; ignored for an .sbc file (default:"
                        + " ${DEFAULT-VALUE})."
            })
    private long blockSize;

    @Option(
            names = "--staging-size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            defaultValue = "16MiB",
            description = {
                "Memory of each data path thread through which the data of a volume goes that is"
                        + " not in memory: file:, null:, fault: (default: ${DEFAULT-VALUE})."
                        + " Requests that find none free wait. At least 1 MiB."
            })
    private long stagingSize;

    @Option(
            names = "--control-timeout",
            paramLabel = "SECONDS",
            converter = SecondsConverter.class,
            defaultValue = "5",
            description = {
                "Timeout of each control operation (default: ${DEFAULT-VALUE}). A service counts as"
                        + " lost after three times as long without activity in a session, plus 20 s"
                        + " for each GB of the volume."
            })
    private Duration controlTimeout = Duration.ZERO;

    @Mixin private final ProviderOption provider = new ProviderOption();
    @Mixin private final NetworkOptions network = new NetworkOptions();

    @Override
    NetworkOptions.Use useNetwork() {
        return NetworkOptions.use(networkOf(provider, network), true);
    }

    @Override
    Side side() {
        return Side.TARGET;
    }

    @Override
    void checkOptions() {
        super.checkOptions();
        ProviderChoice _ = networkOf(provider, network);
        if (listenPort < 0 || listenPort > 65535) {
            throw new ParameterException(
                    spec().commandLine(),
                    "port is out of range: option=--listen-port, port="
                            + listenPort
                            + ", expected=0 to 65535");
        }
        BlockSize.check(spec().commandLine(), blockSize);
        if (blockCount != null && (blockCount < 1 || blockCount > BlockDevice.MAX_BLOCK_COUNT)) {
            throw new ParameterException(
                    spec().commandLine(),
                    "number of blocks is illegal: option=--block-count, blockCount="
                            + blockCount
                            + ", expected=1 to "
                            + BlockDevice.MAX_BLOCK_COUNT);
        }
        if (volume != null) {
            excludes("--binary-content", binaryContent);
            excludes("--block-count", blockCount);
            if (volume.startsWith(MEMORY)) {
                checkMemorySize(volume);
            } else {
                file("--volume", volume);
            }
        } else if (binaryContent != null) {
            file("--binary-content", binaryContent);
        }
    }

    private void excludes(String other, @Nullable Object value) {
        if (value != null) {
            throw new ParameterException(
                    spec().commandLine(),
                    "options exclude each other: options=[--volume, "
                            + other
                            + "], expected=one of them");
        }
    }

    @Override
    StorageRole open(Machine machine, PeerWait steps) {
        provider.choice().require(machine.findDevice(device()));
        TargetOptions options =
                TargetOptions.builder()
                        .device(device())
                        .cpus(cpus())
                        .waitMode(waitMode())
                        .listenAddress(listenAddress.getHostAddress())
                        .listenPort(listenPort)
                        .controlTimeout(controlTimeout)
                        .provider(provider.choice().name())
                        .stagingBytes(stagingSize)
                        .build();
        BlockDevice served = openVolume();
        StorageTarget target;
        try {
            target = StorageTarget.open(machine, options, served, steps);
        } catch (RuntimeException e) {
            served.close();
            throw e;
        }
        readyOutput().println(ReadyLine.listening(target.port()));
        return target;
    }

    @Override
    @Nullable String nextStep(@Nullable SessionStep step, DpuException failure, Topology card) {
        return failure.status() == Status.NOT_FOUND
                        && String.valueOf(failure.getMessage()).contains("file=")
                ? "a volume of memory needs no file: `--volume memory:64MiB`"
                : null;
    }

    private BlockDevice openVolume() {
        int block = Math.toIntExact(blockSize);
        long blocks = Objects.requireNonNullElse(blockCount, (long) StorageDefaults.BLOCK_COUNT);
        if (binaryContent != null) {
            return BlockDevice.openBinaryContent(
                    file("--binary-content", binaryContent), block, blocks);
        }
        String uri = volume == null ? MEMORY + blocks * block : volume;
        try {
            return BlockDevice.open(uri, block);
        } catch (BlockUriException e) {
            throw new ParameterException(
                    spec().commandLine(), UsageMessage.ofOption("--volume", Reason.of(e)), e);
        }
    }

    /** Checks the size of a volume in memory, before anything is opened. */
    private void checkMemorySize(String text) {
        try {
            long size = SizeConverter.parse(text.substring(MEMORY.length()));
            if (size % blockSize != 0) {
                throw new ParameterException(
                        spec().commandLine(),
                        "volume size is illegal: option=--volume, sizeBytes="
                                + size
                                + ", expected=a multiple of --block-size="
                                + blockSize);
            }
        } catch (TypeConversionException e) {
            throw new ParameterException(
                    spec().commandLine(), UsageMessage.ofOption("--volume", Reason.of(e)), e);
        }
    }

    private Path file(String option, String name) {
        return GivenText.path(
                "option=" + option,
                name,
                refusal -> new ParameterException(spec().commandLine(), refusal));
    }
}
