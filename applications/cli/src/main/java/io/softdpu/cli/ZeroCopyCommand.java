package io.softdpu.cli;

import io.softdpu.cli.card.NetworkOptions;
import io.softdpu.cli.card.ProviderOption;
import io.softdpu.cli.options.SecondsConverter;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.child.ReadyLine;
import io.softdpu.perf.storage.StorageTable;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.StorageRole;
import io.softdpu.storage.relay.ServiceOptions;
import io.softdpu.storage.relay.ZeroCopyService;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code softdpu storage zero-copy}: the DPU role of the storage pipeline. */
@Command(
        name = "zero-copy",
        description = {
            "Relays requests between one initiator and one target; the data bypasses it.",
            "Runs on the DPU (side dpu).",
            StorageTable.HELP
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu storage zero-copy -d 03:00.0 --cpu any \\",
            "    -r 0b:00.0 --storage-server 127.0.0.1:12345",
            "  softdpu storage zero-copy -j flags.json"
        })
final class ZeroCopyCommand extends RoleCommand {
    @Option(
            names = {"-r", "--representor"},
            required = true,
            paramLabel = "REPRESENTOR",
            description =
                    "The representor of the host's function: its PCI address or interface name.")
    private String representor = "";

    @Option(
            names = "--storage-server",
            required = true,
            paramLabel = "IP:PORT",
            description = "The target's control channel.")
    private String storageServer = "";

    @Option(
            names = "--command-channel-name",
            paramLabel = "NAME",
            defaultValue = StorageDefaults.COMMAND_CHANNEL_NAME,
            description = "The name of the Comch server (default: ${DEFAULT-VALUE}).")
    private String commandChannelName = "";

    @Option(
            names = "--control-timeout",
            paramLabel = "SECONDS",
            converter = SecondsConverter.class,
            defaultValue = "5",
            description = "Timeout of each control operation (default: ${DEFAULT-VALUE}).")
    private Duration controlTimeout = Duration.ZERO;

    @Mixin private final ProviderOption provider = new ProviderOption();
    @Mixin private final NetworkOptions network = new NetworkOptions();

    @Override
    NetworkOptions.Use useNetwork() {
        return NetworkOptions.use(networkOf(provider, network), true);
    }

    @Override
    Side side() {
        return Side.DPU;
    }

    @Override
    void checkOptions() {
        super.checkOptions();
        ProviderChoice _ = networkOf(provider, network);
        storageServer();
    }

    @Override
    StorageRole open(Machine machine, PeerWait steps) {
        provider.choice().require(machine.findDevice(device()));
        ServiceOptions options =
                ServiceOptions.builder()
                        .device(device())
                        .representor(representor)
                        .cpus(cpus())
                        .waitMode(waitMode())
                        .storageServer(storageServer())
                        .commandChannelName(commandChannelName)
                        .controlTimeout(controlTimeout)
                        .provider(provider.choice().name())
                        .build();
        return ZeroCopyService.open(machine, options, new ReadyListener(steps));
    }

    @Override
    @Nullable String nextStep(@Nullable SessionStep step, DpuException failure, Topology card) {
        if (step != SessionStep.CONNECTING_TO_STORAGE || failure.status() != Status.TIME_OUT) {
            return null;
        }
        return Text.format(
                "start the target first: `softdpu storage target -d %s --cpu any --listen-port %d"
                        + " --volume memory:64MiB%s`",
                card.functionsOf(Side.TARGET).stream()
                        .map(PciFunction::interfaceName)
                        .findFirst()
                        .orElse("t0"),
                storageServer().getPort(),
                topologyArguments());
    }

    private InetSocketAddress storageServer() {
        try {
            return ServiceOptions.parseStorageServer(storageServer);
        } catch (DpuException e) {
            throw new ParameterException(
                    spec().commandLine(),
                    UsageMessage.ofOption("--storage-server", String.valueOf(e.getMessage())),
                    e);
        }
    }

    /** Prints a line when the service is ready for an initiator. */
    private final class ReadyListener implements SessionListener {
        private final PeerWait steps;

        ReadyListener(PeerWait steps) {
            this.steps = steps;
        }

        @Override
        public void step(SessionStep step, String detail) {
            steps.close(); // before the line, which may go to the same terminal
            if (step == SessionStep.WAITING_FOR_CLIENT) {
                readyOutput().println(ReadyLine.waiting(commandChannelName));
            }
            steps.step(step, detail);
        }
    }
}
