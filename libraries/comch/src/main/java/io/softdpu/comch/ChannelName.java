package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.PciFunction;

/**
 * Bus name of a Comm Channel server: the DPU's port, the function that the server's representor
 * represents, and the server's name. A client of another function looks up another name, so it
 * cannot even reach the server (cc-039).
 */
final class ChannelName {
    /** Beginning of the bus names of all Comm Channel servers. */
    static final String PREFIX = "comch:";

    private ChannelName() {}

    /** Name that a server listens on. */
    static String ofServer(DeviceInfo port, PciFunction represented, String serverName) {
        return name(port.interfaceName(), represented, serverName);
    }

    /** Name that a client of this device connects to. */
    static String ofClient(DeviceInfo device, String serverName) {
        PciFunction function = device.function();
        PciFunction port =
                device.machine()
                        .topologyNow()
                        .parentOf(function)
                        .orElseThrow(() ->
                                new DpuException(
                                        Status.NOT_SUPPORTED,
                                        "no port of the DPU made this function: function="
                                                + function.key()));
        return name(port.interfaceName(), function, serverName);
    }

    /** Whether a server can be created on a device: it is a port of the DPU. */
    static boolean canServe(DeviceInfo device) {
        return device.function().side() == Side.DPU && device.functionType() == FunctionType.PF;
    }

    /**
     * Whether a client can be created on a device: it is a function that the DPU shows to the host.
     */
    static boolean canConnect(DeviceInfo device) {
        return device.function().side() == Side.HOST && device.function().parent() != null;
    }

    /** The server and the function of a bus name, for messages. */
    static String describe(String busName) {
        String[] parts = busName.split(":", 4);
        return parts.length == 4 ? parts[3] + " for " + parts[2] : busName;
    }

    // The separator cannot occur in the names of a topology, so that the parts cannot be confused.
    private static String name(String port, PciFunction function, String serverName) {
        return PREFIX + port + ":" + function.key() + ":" + serverName;
    }
}
