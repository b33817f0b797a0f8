package io.softdpu.samples;

import io.softdpu.comch.ComchCapabilities;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.RepresentorInfo;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** The arguments that all Comm Channel samples take, and the devices and the text they choose. */
final class ChannelSettings {
    static final SampleOption PCI_ADDRESS =
            SampleOption.of(
                    "pci-addr",
                    "p",
                    "ADDRESS",
                    "PCI address of the Comm Channel device (default: the first of its side that"
                            + " has one; on the built-in card 03:00.0 for a server, 0b:00.0 for a"
                            + " client)");

    static final SampleOption SERVED_FUNCTION =
            SampleOption.of(
                            "rep-pci",
                            "r",
                            "ADDRESS",
                            "PCI address of the representor of the host's function that may"
                                    + " connect")
                    .asRequired();

    /** The same flag on the host, where there are no representors: only a check. */
    static final SampleOption OWN_FUNCTION =
            SampleOption.of(
                    "rep-pci",
                    "r",
                    "ADDRESS",
                    "PCI address of the function that the server serves: has to be the client's"
                            + " own");

    static final SampleOption TEXT =
            SampleOption.of("text", "t", "TEXT", "The text to send, instead of a default");

    static final List<SampleOption> OF_SERVER =
            List.of(PCI_ADDRESS, SERVED_FUNCTION, TEXT, SampleOption.TIMEOUT);

    static final List<SampleOption> OF_CLIENT =
            List.of(PCI_ADDRESS, OWN_FUNCTION, TEXT, SampleOption.TIMEOUT);

    private static final Duration AFTER_CONNECT_TIMEOUT = Duration.ofSeconds(1);

    private ChannelSettings() {}

    /** The port of the DPU that a server works on. */
    static DeviceInfo port(Machine dpu, SampleSettings settings) {
        String named = settings.value(PCI_ADDRESS);
        return dpu.findDevice(SampleDevices.port(settings.topology(), named, null));
    }

    /** The representor of the function whose clients may connect to a server. */
    static RepresentorInfo representor(Device port, SampleSettings settings) {
        return port.findRepresentor(settings.required(SERVED_FUNCTION));
    }

    /**
     * The function of the host that a client works on.
     *
     * @throws SampleUsageException if the server is said to serve another
     */
    static DeviceInfo function(Machine host, SampleSettings settings) {
        String named = settings.value(PCI_ADDRESS);
        DeviceInfo function =
                host.findDevice(SampleDevices.hostFunction(settings.topology(), named));
        String served = settings.value(OWN_FUNCTION);
        if (served != null && !isServed(function, served)) {
            throw new SampleUsageException(
                    Text.format(
                            "representor is another function's: option=--rep-pci, representor=%s,"
                                    + " device=%s, expected=%s (the client's own function)",
                            served,
                            function.pciAddress().shortForm(),
                            function.pciAddress().shortForm()));
        }
        return function;
    }

    private static boolean isServed(DeviceInfo function, String representor) {
        return representor.equalsIgnoreCase(function.pciAddress().shortForm())
                || representor.equalsIgnoreCase(function.pciAddress().longForm())
                || representor.equals(function.function().representor());
    }

    /**
     * The text to send in a message, as UTF-8.
     *
     * @throws SampleUsageException if it is empty, or longer than a message of the device
     */
    static byte[] messageText(SampleSettings settings, DeviceInfo device, String otherwise) {
        return text(settings, device, otherwise, ComchCapabilities.of(device).maxMessageBytes());
    }

    /**
     * The text to send on the fast path, as UTF-8.
     *
     * @throws SampleUsageException if the text is empty, or longer than a buffer of the device
     * @throws DpuException NOT_SUPPORTED for a device without producers or consumers
     */
    static byte[] dataText(SampleSettings settings, DeviceInfo device, String otherwise) {
        ComchCapabilities capabilities = ComchCapabilities.of(device);
        if (!capabilities.isProducerSupported() || !capabilities.isConsumerSupported()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "device does not support both ends of the fast path: device=%s,"
                                + " maxProducerTasks=%d, maxConsumerTasks=%d, expected=1 or more",
                            device,
                            capabilities.maxProducerTasks(),
                            capabilities.maxConsumerTasks()));
        }
        return text(settings, device, otherwise, maxTextBytes(device));
    }

    private static byte[] text(
            SampleSettings settings, DeviceInfo device, String otherwise, int maxBytes) {
        byte[] text = settings.value(TEXT, otherwise).getBytes(StandardCharsets.UTF_8);
        if (text.length < 1 || text.length > maxBytes) {
            throw new SampleUsageException(
                    Text.format(
                            "length of the text is illegal: option=--text, lengthBytes=%d,"
                                    + " expected=1 to %d, device=%s",
                            text.length, maxBytes, device));
        }
        return text;
    }

    /**
     * Longest text on the fast path in bytes: that of a message, or of a buffer that is smaller.
     */
    static int maxTextBytes(DeviceInfo device) {
        ComchCapabilities capabilities = ComchCapabilities.of(device);
        return Math.toIntExact(
                Math.min(
                        capabilities.maxMessageBytes(),
                        Math.min(
                                capabilities.maxProducerBufferBytes(),
                                capabilities.maxConsumerBufferBytes())));
    }

    /**
     * Time limit of a client's start: later than its connect timeout, whose failure says which
     * servers there are.
     */
    static Duration startTimeout(SampleSettings settings) {
        return settings.timeout().plus(AFTER_CONNECT_TIMEOUT);
    }

    /** A line with a received text and its length. */
    static String received(byte[] text) {
        return "received: bytes="
                + text.length
                + ", text="
                + ForeignText.escape(new String(text, StandardCharsets.UTF_8));
    }
}
