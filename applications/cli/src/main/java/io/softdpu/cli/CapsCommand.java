package io.softdpu.cli;

import io.softdpu.cli.card.CapabilityReport;
import io.softdpu.cli.card.DeviceNames;
import io.softdpu.cli.card.LibraryNames;
import io.softdpu.cli.card.ProviderOption;
import io.softdpu.cli.card.TopologyOption;
import io.softdpu.cli.options.SideConverter;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.Suggestions;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.text.TextTable;
import io.softdpu.rdma.RdmaCapabilities;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code softdpu caps}: prints the capabilities of each library on each device. */
@Command(
        name = "caps",
        description = {
            "Prints the capabilities and limits of each library on each device.",
            "A limit of an unsupported operation is 0. For the names and addresses of devices use"
                    + " devices. As JSON an array with one object per device.",
            "Joins the fabric folder, to show functions that programs have plugged in, too."
        },
        footerHeading = Examples.HEADING,
        footer = {"  softdpu caps", "  softdpu caps --device p0 --library dma"})
final class CapsCommand implements Callable<Integer> {
    /** Library whose capabilities depend on a provider. */
    private static final String RDMA = "rdma";

    @Spec private @Nullable CommandSpec spec;

    @Option(
            names = {"-d", "--device"},
            paramLabel = "DEVICE",
            completionCandidates = DeviceNames.class,
            description = "PCI address, ibdev name or interface name (default: all devices).")
    private @Nullable String device;

    @Option(
            names = "--side",
            paramLabel = "host|dpu|target",
            converter = SideConverter.class,
            completionCandidates = SideConverter.class,
            description = "The side to show (default: all).")
    private @Nullable Side side;

    @Option(
            names = "--library",
            paramLabel = "LIBRARY",
            completionCandidates = LibraryNames.class,
            description = "The library, for example comch or rdma (default: all libraries).")
    private @Nullable String library;

    /** An array with one object per device. */
    @Mixin private final JsonOption json = new JsonOption();

    @Mixin private final TopologyOption topology = new TopologyOption();
    @Mixin private final ProviderOption provider = new ProviderOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        PrintWriter out = command.getOut();
        requireLibrary(command);
        requireProviderIsUsed(command);
        json.check(command);
        CapabilityReport report = new CapabilityReport();
        Topology card = topology.load();
        List<DeviceInfo> known = new ArrayList<>();
        boolean found = false;
        for (Side one : side == null ? Side.values() : new Side[] {side}) {
            try (Machine machine = Machine.builder(one).topology(card).open()) {
                known.addAll(machine.devices());
                for (DeviceInfo info : chosen(machine)) {
                    report.add(info, ask(info));
                    found = true;
                }
            }
        }
        if (!found && device == null) {
            throw new DpuException(
                    Status.NOT_FOUND,
                    "topology has no devices there: side="
                            + (side == null ? "any" : side.id())
                            + ", topology="
                            + card.name());
        }
        if (!found) {
            throw new DpuException(
                    Status.NOT_FOUND,
                    "no such device: device="
                            + device
                            + ", available="
                            + known.stream()
                                    .map(info -> info.machine().side().id() + " " + info)
                                    .toList());
        }
        json.write(report.toJson(), out);
        if (!json.isStandardOutput()) {
            print(report, out);
        }
        return ExitCode.OK.code();
    }

    private void requireLibrary(CommandLine command) {
        List<String> libraries = Capabilities.libraries();
        if (library != null && !libraries.contains(library)) {
            throw new ParameterException(
                    command,
                    "no such library: option=--library, library="
                            + library
                            + ", expected=one of "
                            + libraries
                            + Suggestions.question(Suggestions.of(library, libraries)));
        }
    }

    /** A name may mean a device on more than one side; it is shown on each. */
    private List<DeviceInfo> chosen(Machine machine) {
        if (device == null) {
            return machine.devices();
        }
        try {
            return List.of(machine.findDevice(device));
        } catch (DpuException e) {
            if (e.status() == Status.NOT_FOUND) {
                return List.of(); // it may be a device of another side
            }
            throw e;
        }
    }

    /** The capabilities of a library other than RDMA are those of no provider. */
    private void requireProviderIsUsed(CommandLine command) {
        ProviderChoice choice = provider.choice();
        if (library != null && !library.equals(RDMA) && !choice.isAuto()) {
            throw new ParameterException(
                    command,
                    Text.format(
                            "library has no RDMA providers: option=--provider, provider=%s,"
                                    + " library=%s, expected=--library %s, or no library",
                            choice.name(), library, RDMA));
        }
    }

    private List<CapabilityReport.Library> ask(DeviceInfo info) {
        List<Capabilities> asked =
                library == null ? Capabilities.of(info) : List.of(Capabilities.of(info, library));
        return asked.stream().map(one -> ask(info, one)).toList();
    }

    private CapabilityReport.Library ask(DeviceInfo info, Capabilities of) {
        ProviderChoice choice = provider.choice();
        if (!of.library().equals(RDMA) || choice.isAuto()) {
            return new CapabilityReport.Library(of.library(), of.all());
        }
        choice.require(info);
        return new CapabilityReport.Library(RDMA, RdmaCapabilities.of(info, choice.name()).all());
    }

    private static void print(CapabilityReport report, PrintWriter out) {
        String separator = "";
        for (CapabilityReport.Table table : report.tables()) {
            out.print(separator);
            separator = System.lineSeparator();
            out.println(
                    table.devices().stream()
                            .map(info -> info.machine().side().id() + " " + info)
                            .collect(Collectors.joining(System.lineSeparator())));
            TextTable text = TextTable.ofWords("  LIBRARY", "CAPABILITY", "VALUE", "");
            for (CapabilityReport.Row row : table.rows()) {
                text.add("  " + row.library(), row.capability(), row.value(), row.unit());
            }
            text.lines().forEach(out::println);
        }
    }
}
