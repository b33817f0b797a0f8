package io.softdpu.core.spi.bus;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.text.Text;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Origin of an export as its blob names it: kernel, fabric folder, topology and exporting device.
 * The blob is untrusted; its fields have legal values.
 *
 * @param bootId of the exporter's kernel
 * @param fabricId of the exporter's fabric folder
 * @param topologyDigest of the exporter's topology: its SHA-256, or the begin of that
 * @param side of the exporting device
 * @param interfaceName of the exporting device
 */
@SuppressWarnings("ArrayRecordComponent") // compared by content below, and never as a record
public record ExportOrigin(
        RegionAddress.Id bootId,
        RegionAddress.Id fabricId,
        byte[] topologyDigest,
        Side side,
        String interfaceName) {

    /** Whether it is of the same kernel and fabric folder as a bus. */
    public boolean isOn(Bus bus) {
        return bootId.equals(bus.bootId()) && fabricId.equals(bus.fabricId());
    }

    /**
     * Refuses an export of another kernel, fabric folder or topology.
     *
     * @param device of the importer
     * @param bus of the device's machine
     * @throws DpuException NOT_FOUND, BAD_CONFIG
     */
    public void requireReachable(Device device, Bus bus) {
        if (!bootId.equals(bus.bootId())) {
            throw new DpuException(
                    Status.NOT_FOUND,
                    Text.format(
                            "export comes from another kernel: bootId=%s, ours=%s",
                            bootId, bus.bootId()));
        }
        if (!fabricId.equals(bus.fabricId())) {
            throw new DpuException(
                    Status.NOT_FOUND,
                    Text.format(
                            "export comes from another fabric folder: fabricId=%s, ours=%s,"
                                    + " folder=%s",
                            fabricId, bus.fabricId(), bus.folder()));
        }
        Topology topology = device.machine().topology();
        byte[] ours = Arrays.copyOf(topology.sha256(), topologyDigest.length);
        if (!Arrays.equals(topologyDigest, ours)) {
            throw new DpuException(
                    Status.BAD_CONFIG,
                    Text.format(
                            "export comes from another topology: sha256=%s, ours=%s",
                            HexFormat.of().formatHex(topologyDigest),
                            HexFormat.of().formatHex(ours)));
        }
    }

    /**
     * Refuses all devices but the port of the DPU that created the exporting function.
     *
     * @throws DpuException NOT_PERMITTED naming both; INVALID_VALUE if there is no such function
     */
    public void requireParent(Device device) {
        Topology topology = device.machine().topologyNow();
        String key = PciFunction.key(side, interfaceName);
        PciFunction exporter =
                topology.functionByKey(key)
                        .orElseThrow(() ->
                                new DpuException(
                                        Status.INVALID_VALUE,
                                        Text.format(
                                                "export blob refused: field=device, value=%s,"
                                                        + " expected=a function of %s",
                                                key, topology)));
        PciFunction parent =
                topology.parentOf(exporter)
                        .orElseThrow(() ->
                                new DpuException(
                                        Status.INVALID_VALUE,
                                        Text.format(
                                                "export blob refused: field=device, value=%s,"
                                                        + " expected=a function that a port has"
                                                        + " created",
                                                key)));
        if (!device.info().function().key().equals(parent.key())) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    Text.format(
                            "device is not the parent of the exporting one: device=%s, exporter=%s"
                                    + " %s, parent=%s %s",
                            device,
                            exporter.pciAddress(),
                            exporter.interfaceName(),
                            parent.pciAddress(),
                            parent.interfaceName()));
        }
    }
}
