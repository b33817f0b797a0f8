package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaTaskType;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Arguments of the RDMA samples, and the device that they choose. */
final class RdmaSampleSettings {
    static final SampleOption DEVICE =
            SampleOption.of(
                    "device",
                    "d",
                    "DEVICE",
                    "The device: ibdev name, PCI address or interface name (default: the first that"
                            + " supports the sample's task, of the host for a requester or sender,"
                            + " of the DPU for a responder or receiver)");

    static final SampleOption LOCAL_DESCRIPTOR =
            SampleOption.of(
                    "local-descriptor-path",
                    "ld",
                    "FILE",
                    "The file to write this side's connection descriptor to, which is to be copied"
                            + " to the peer; removed at the end. Needed without --use-rdma-cm");

    static final SampleOption REMOTE_DESCRIPTOR =
            SampleOption.of(
                    "remote-descriptor-path",
                    "re",
                    "FILE",
                    "The file with the peer's connection descriptor, copied from the peer; waited"
                            + " for. Needed without --use-rdma-cm");

    /** Of a side that exports its memory. */
    static final SampleOption EXPORTED_MMAP =
            SampleOption.of(
                            "mmap-descriptor-path",
                            "m",
                            "FILE",
                            "The file to write the descriptor of the exported mmap to, which is to"
                                    + " be copied to the peer; removed at the end")
                    .asRequired();

    /** The same flag of a side that uses the peer's memory. */
    static final SampleOption PEER_MMAP =
            SampleOption.of(
                            "mmap-descriptor-path",
                            "m",
                            "FILE",
                            "The file with the descriptor of the peer's mmap, copied from the peer;"
                                    + " waited for")
                    .asRequired();

    /** The same flag of a side that exports a sync event. */
    static final SampleOption EXPORTED_EVENT =
            SampleOption.of(
                            "mmap-descriptor-path",
                            "m",
                            "FILE",
                            "The file to write the descriptor of the exported sync event to, which"
                                    + " is to be copied to the peer; removed at the end")
                    .asRequired();

    /** The same flag of a side that uses the peer's sync event. */
    static final SampleOption PEER_EVENT =
            SampleOption.of(
                            "mmap-descriptor-path",
                            "m",
                            "FILE",
                            "The file with the descriptor of the peer's sync event, copied from the"
                                    + " peer; waited for")
                    .asRequired();

    static final SampleOption USE_RDMA_CM =
            SampleOption.flag(
                    "use-rdma-cm",
                    null,
                    "Connect by address, in place of connection descriptors; the responder or"
                            + " receiver listens, and is started first");

    static final SampleOption PORT =
            SampleOption.of(
                    "port",
                    null,
                    "PORT",
                    "The port of the side that listens; with --use-rdma-cm (default: 13579)");

    /** Of the side that connects. */
    static final SampleOption ADDRESS =
            SampleOption.of(
                    "address",
                    null,
                    "ADDRESS",
                    "The address of the peer's device: IPv4, IPv6 or GID, as the peer prints it."
                            + " Needed with --use-rdma-cm");

    static final SampleOption GID_INDEX =
            SampleOption.of(
                    "gid-index",
                    "g",
                    "N",
                    "Index of the device's address that is the GID: 0 for IPv4, 1 for IPv6"
                            + " (default: 0)");

    static final SampleOption PROVIDER =
            SampleOption.of(
                    "provider",
                    null,
                    "auto|NAME",
                    "The RDMA provider, shm for example, the same at the peer (default: "
                            + Rdma.ANY_PROVIDER
                            + ", the one that SOFTDPU_RDMA_PROVIDER names, else the one that the"
                            + " first connection selects)");

    static final SampleOption READ_STRING =
            text("read-string", "r", "The string in the memory that the peer reads");

    static final SampleOption SEND_STRING = text("send-string", "s", "The string to send");

    static final SampleOption WRITE_STRING =
            text("write-string", "w", "The string to write into the peer's memory");

    private static final String DEFAULT_PORT = "13579";
    private static final int MAX_PORT = 65_535;

    private RdmaSampleSettings() {}

    /** Whether the file of an option has the descriptor of a sync event, and not of memory. */
    static boolean isOfEvent(SampleOption option) {
        return option.equals(EXPORTED_EVENT) || option.equals(PEER_EVENT);
    }

    private static SampleOption text(String longName, String shortName, String description) {
        return SampleOption.of(
                longName,
                shortName,
                "STRING",
                description + " (default: \"" + RdmaText.DEFAULT + "\")");
    }

    /** The options of a side that listens if it connects by address, and those of one sample. */
    static List<SampleOption> listening(SampleOption... own) {
        return all(own, USE_RDMA_CM, PORT);
    }

    /** The options of a side that connects to an address, and those of one sample. */
    static List<SampleOption> connecting(SampleOption... own) {
        return all(own, USE_RDMA_CM, ADDRESS, PORT);
    }

    private static List<SampleOption> all(SampleOption[] own, SampleOption... byAddress) {
        return Stream.of(
                        Stream.of(DEVICE, LOCAL_DESCRIPTOR, REMOTE_DESCRIPTOR),
                        Stream.of(own),
                        Stream.of(byAddress),
                        Stream.of(GID_INDEX, PROVIDER, SampleOption.TIMEOUT))
                .flatMap(options -> options)
                .toList();
    }

    /**
     * Whether the two sides connect by address, in place of descriptors.
     *
     * @throws SampleUsageException for an option of the other way
     */
    static boolean isByAddress(SampleSettings settings) {
        boolean byAddress = settings.isGiven(USE_RDMA_CM);
        List<SampleOption> ofOtherWay =
                byAddress ? List.of(LOCAL_DESCRIPTOR, REMOTE_DESCRIPTOR) : List.of(PORT, ADDRESS);
        for (SampleOption option : ofOtherWay) {
            if (settings.isGiven(option)) {
                throw new SampleUsageException(
                        Text.format(
                                "option belongs to another way to connect: option=--%s,"
                                        + " expected=%s",
                                option.longName(),
                                byAddress ? "without --use-rdma-cm" : "--use-rdma-cm beside it"));
            }
        }
        return byAddress;
    }

    /**
     * The port that is listened on.
     *
     * @throws SampleUsageException for what is no port
     */
    static int port(SampleSettings settings) {
        String text = settings.value(PORT, DEFAULT_PORT);
        try {
            int port = Text.parseInt(text);
            if (port >= 1 && port <= MAX_PORT) {
                return port;
            }
        } catch (NumberFormatException e) {
            throw illegalPort(text, e);
        }
        throw illegalPort(text, null);
    }

    private static SampleUsageException illegalPort(
            String text, @Nullable NumberFormatException cause) {
        return new SampleUsageException(
                Text.format(
                        "not a port: option=--port, port=%s, expected=1 to %d",
                        ForeignText.escapeAndCut(text), MAX_PORT),
                cause);
    }

    /**
     * The address that is connected to: a text with colons is a GID, which every IPv6 address is.
     *
     * @throws SampleUsageException if it is missing or no address
     */
    static RdmaAddress address(SampleSettings settings) {
        String text = settings.required(ADDRESS);
        RdmaAddress.Type type = text.contains(":") ? RdmaAddress.Type.GID : RdmaAddress.Type.IPV4;
        int port = port(settings);
        try {
            return RdmaAddress.of(type, text, port);
        } catch (DpuException e) {
            throw new SampleUsageException(
                    Text.format(
                            "not an address: option=--%s, reason=%s",
                            ADDRESS.longName(), Reason.of(e)),
                    e);
        }
    }

    /** The address of this side, by which a peer connects to it. */
    static String ownAddress(SampleSettings settings, Device device) {
        return RdmaCapabilities.of(device.info())
                .gidAddresses()
                .get(gidIndex(settings, device))
                .getHostAddress();
    }

    /**
     * Opens the machine with the named device: of this side if that has one with the name, else of
     * the first that has. An ibdev name may be one of several sides.
     */
    static Machine machine(SampleSettings settings, Side otherwise) {
        Topology topology = settings.topology();
        String named = settings.value(DEVICE);
        Side side =
                named == null
                        ? otherwise
                        : Stream.concat(Stream.of(otherwise), Stream.of(Side.values()))
                                .filter(each -> has(topology, each, named))
                                .findFirst()
                                .orElse(otherwise);
        return Machine.builder(side).topology(topology).open();
    }

    private static boolean has(Topology topology, Side side, String named) {
        return topology.functionsOf(side).stream().anyMatch(function -> isNamed(function, named));
    }

    private static boolean isNamed(PciFunction function, String named) {
        return named.equals(function.ibdevName())
                || named.equals(function.interfaceName())
                || named.equalsIgnoreCase(function.pciAddress().shortForm())
                || named.equalsIgnoreCase(function.pciAddress().longForm());
    }

    /**
     * The named device, or the first of the machine that has all types of tasks.
     *
     * @param tasks the types; none for a sample without tasks, which takes any device
     * @throws DpuException NOT_FOUND; NOT_SUPPORTED if the named device lacks a type
     */
    static DeviceInfo device(Machine machine, SampleSettings settings, List<RdmaTaskType> tasks) {
        String named = settings.value(DEVICE);
        if (named == null) {
            return machine.devices().stream()
                    .filter(device -> supports(device, tasks))
                    .findFirst()
                    .orElseThrow(
                            SampleDevices.lack(
                                    machine.topology(),
                                    Text.format(
                                            "a device of the side %s for RDMA%s",
                                            machine.side().id(),
                                            tasks.isEmpty() ? "" : " with tasks " + names(tasks))));
        }
        DeviceInfo device = machine.findDevice(named);
        if (!supports(device, tasks)) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "device does not support the sample's tasks: option=--device,"
                                + " device=%s, tasks=%s, expected=a device for which `softdpu caps"
                                + " --library rdma` lists them",
                            device, tasks.isEmpty() ? "none" : names(tasks)));
        }
        return device;
    }

    private static String names(List<RdmaTaskType> tasks) {
        return tasks.stream().map(RdmaTaskType::name).collect(Collectors.joining(" and "));
    }

    private static boolean supports(DeviceInfo device, List<RdmaTaskType> tasks) {
        RdmaCapabilities capabilities = RdmaCapabilities.of(device);
        return capabilities.isSupported() && tasks.stream().allMatch(capabilities::isSupported);
    }

    /**
     * The index of the GID.
     *
     * @throws SampleUsageException for one that the device does not have
     */
    static int gidIndex(SampleSettings settings, Device device) {
        String text = settings.value(GID_INDEX, "0");
        List<InetAddress> addresses = RdmaCapabilities.of(device.info()).gidAddresses();
        try {
            int index = Text.parseInt(text);
            if (index >= 0 && index < addresses.size()) {
                return index;
            }
        } catch (NumberFormatException e) {
            throw illegalIndex(text, device, addresses.size(), e);
        }
        throw illegalIndex(text, device, addresses.size(), null);
    }

    private static SampleUsageException illegalIndex(
            String text, Device device, int count, @Nullable NumberFormatException cause) {
        return new SampleUsageException(
                Text.format(
                        "index of the GID is illegal: option=--gid-index, index=%s, device=%s,"
                                + " expected=0 to %d",
                        ForeignText.escapeAndCut(text), device.info(), count - 1),
                cause);
    }

    /**
     * Sets the provider of the instance, where one is named.
     *
     * @throws DpuException NOT_FOUND if it does not serve the device, naming those that do
     */
    static void setProvider(SampleSettings settings, Device device, Rdma rdma) {
        String name = settings.value(PROVIDER, Rdma.ANY_PROVIDER);
        RdmaCapabilities.requireProvider(device.info(), name, "option=--provider");
        if (!name.equals(Rdma.ANY_PROVIDER)) {
            rdma.setProvider(name);
        }
    }

    /** The file that an option names. */
    static Path file(SampleSettings settings, SampleOption option) {
        return settings.file(option).toAbsolutePath();
    }
}
