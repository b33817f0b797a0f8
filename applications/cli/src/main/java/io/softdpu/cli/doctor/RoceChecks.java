package io.softdpu.cli.doctor;

import io.softdpu.core.Side;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.Reason;
import io.softdpu.rdma.roce.RoceOptions;
import io.softdpu.rdma.roce.nic.AddressReport;
import io.softdpu.rdma.roce.nic.LocalInterface;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Checks of the provider {@code roce}: the addresses of the devices, their port and interface, and
 * the buffers of sockets. What it lacks is a warning, since {@code shm} serves without.
 */
final class RoceChecks {
    private static final String BUFFERS = "RoCE buffers";

    private RoceChecks() {}

    /** A finding for each device of the card of the environment, and one for the buffers. */
    static List<Finding> all() {
        List<Finding> all = new ArrayList<>();
        try {
            RoceOptions options = RoceOptions.current();
            Topology card = Topology.fromEnvironment();
            List<AddressReport> reports = new ArrayList<>();
            for (Side side : Side.values()) {
                for (PciFunction function : card.functionsOf(side)) {
                    AddressReport ipv4 = report(function.ipv4().getAddress(), options);
                    AddressReport ipv6 = report(function.ipv6().getAddress(), options);
                    reports.addAll(List.of(ipv4, ipv6));
                    all.add(device("RoCE " + side.id() + " " + function.ibdevName(), ipv4, ipv6));
                }
            }
            reports.stream()
                    .filter(AddressReport::isPresent)
                    .findFirst()
                    .ifPresent(report -> all.add(buffers(report, options)));
        } catch (RuntimeException e) {
            all.add(
                    Finding.warning(
                            "RoCE", "reason=" + Reason.of(e), "mend it to use --provider roce"));
        }
        return all;
    }

    private static AddressReport report(byte[] address, RoceOptions options) {
        return AddressReport.of(
                Gid.ofAddress(address), options.receiveBuffer(), options.sendBuffer());
    }

    /**
     * A device: what an instance has at each of its addresses, of which the GID index selects one.
     */
    static Finding device(String check, AddressReport ipv4, AddressReport ipv6) {
        String detail = detail("ipv4", ipv4) + ", " + detail("ipv6", ipv6);
        if (!ipv4.isPresent() && !ipv6.isPresent()) {
            return Finding.warning(
                    check,
                    detail,
                    "roce does not serve this device: give it an address of an interface of this"
                        + " machine in the topology, or add the address to one; shm needs none");
        }
        String remedies =
                Stream.of(ipv4, ipv6)
                        .filter(AddressReport::isPresent)
                        .map(RoceChecks::remedy)
                        .flatMap(Optional::stream)
                        .collect(Collectors.joining("; "));
        return remedies.isEmpty()
                ? Finding.ok(check, detail)
                : Finding.warning(check, detail, remedies);
    }

    private static String detail(String key, AddressReport report) {
        if (!report.isPresent()) {
            return key + "=" + report.address() + " (absent)";
        }
        LocalInterface local = report.local();
        return key
                + "="
                + report.address()
                + ", port="
                + Headers.UDP_PORT
                + " "
                + (report.isPortHeld() ? "held by " + report.portHolder() : "free")
                + ", interface="
                + (local == null ? "unknown" : local.name())
                + ", mtuBytes="
                + (local == null ? "unknown" : local.mtuBytes())
                + ", maxPathMtuBytes="
                + maxPathMtuBytes(report)
                + ", receiveBufferBytes="
                + report.receiveBufferBytes();
    }

    private static int maxPathMtuBytes(AddressReport report) {
        LocalInterface local = report.local();
        return local == null
                ? Headers.MAX_PAYLOAD_BYTES
                : local.maxPathMtuBytes(report.address().isIpv4());
    }

    /** The remedy for an address that is present, if something does not work there. */
    private static Optional<String> remedy(AddressReport report) {
        if (maxPathMtuBytes(report) == 0) {
            return Optional.of(
                    "roce does not serve "
                            + report.address()
                            + ": raise the MTU of its interface to "
                            + LocalInterface.minMtuBytes(report.address().isIpv4())
                            + " or more");
        }
        return report.isPortHeld()
                ? Optional.of(
                        "roce neither listens nor connects by address or by parameters at "
                                + report.address()
                                + ", only by blobs: end the holder, or take another address")
                : Optional.empty();
    }

    /** The buffers that the system grants, which are the same for all devices. */
    static Finding buffers(AddressReport report, RoceOptions options) {
        String detail =
                "receiveBytes="
                        + report.receiveBufferBytes()
                        + ", sendBytes="
                        + report.sendBufferBytes()
                        + ", expected="
                        + options.receiveBuffer()
                        + " and "
                        + options.sendBuffer();
        boolean enough =
                report.receiveBufferBytes() >= options.receiveBuffer()
                        && report.sendBufferBytes() >= options.sendBuffer();
        return enough
                ? Finding.ok(BUFFERS, detail)
                : Finding.warning(
                        BUFFERS,
                        detail,
                        "bursts of packets are lost and repeated, which is slow: sysctl"
                                + " net.core.rmem_max="
                                + options.receiveBuffer()
                                + " net.core.wmem_max="
                                + options.sendBuffer());
    }
}
