package io.softdpu.samples;

import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Arguments that both sync event samples take, and their device.
 *
 * @param isAsynchronous whether the event is used by jobs on a work queue
 * @param queueDepth depth of that queue
 * @param isAtomic whether a signal adds to the value, in place of setting it
 */
record SyncEventSettings(boolean isAsynchronous, int queueDepth, boolean isAtomic) {
    /** Name under which the DPU listens. */
    static final String SERVER = "sync-event";

    static final SampleOption DEVICE =
            SampleOption.of(
                    "dev-pci-addr",
                    "d",
                    "ADDRESS",
                    "PCI address of the device (default: the first of its side that shares a port"
                            + " of the DPU; on the built-in card 03:00.0 on the DPU, 0b:00.0 on"
                            + " the host)");

    static final SampleOption REPRESENTOR =
            SampleOption.of(
                            "rep-pci-addr",
                            "r",
                            "ADDRESS",
                            "PCI address of the representor of the host's function")
                    .asRequired();

    static final SampleOption ASYNC =
            SampleOption.flag(
                    "async",
                    null,
                    "Start the event in asynchronous mode, and use it by jobs on a work queue that"
                            + " is polled; without it, in synchronous mode");

    static final SampleOption QUEUE_DEPTH =
            SampleOption.of(
                    "qdepth",
                    null,
                    "N",
                    "Depth of the work queue, 1 to 1048576; with --async (default: 32)");

    static final SampleOption ATOMIC =
            SampleOption.flag(
                    "atomic",
                    null,
                    "Signal by adding 1 to the value atomically; without it, by setting it");

    static final List<SampleOption> OF_HOST =
            List.of(DEVICE, ASYNC, QUEUE_DEPTH, ATOMIC, SampleOption.TIMEOUT);

    static final List<SampleOption> OF_DPU =
            List.of(DEVICE, REPRESENTOR, ASYNC, QUEUE_DEPTH, ATOMIC, SampleOption.TIMEOUT);

    private static final String DEFAULT_DEPTH = "32";

    /**
     * Reads them.
     *
     * @throws SampleUsageException for a depth that is none, or that belongs to no queue
     */
    static SyncEventSettings of(SampleSettings settings) {
        boolean async = settings.isGiven(ASYNC);
        if (settings.isGiven(QUEUE_DEPTH) && !async) {
            throw new SampleUsageException(
                    Text.format(
                            "only the asynchronous mode has a work queue: option=--qdepth,"
                                    + " depth=%s, expected=--async beside it",
                            settings.required(QUEUE_DEPTH)));
        }
        return new SyncEventSettings(
                async, depth(settings.value(QUEUE_DEPTH, DEFAULT_DEPTH)), settings.isGiven(ATOMIC));
    }

    private static int depth(String text) {
        try {
            int depth = Text.parseInt(text);
            if (depth >= 1 && depth <= WorkQueue.MAX_DEPTH) {
                return depth;
            }
        } catch (NumberFormatException e) {
            throw illegal(text, e);
        }
        throw illegal(text, null);
    }

    private static SampleUsageException illegal(
            String text, @Nullable NumberFormatException cause) {
        return new SampleUsageException(
                Text.format(
                        "depth of the work queue is illegal: option=--qdepth, depth=%s, expected=1"
                                + " to %d",
                        ForeignText.escapeAndCut(text), WorkQueue.MAX_DEPTH),
                cause);
    }

    /** The port of the DPU. */
    static DeviceInfo port(Machine dpu, SampleSettings settings) {
        return dpu.findDevice(
                SampleDevices.port(settings.topology(), settings.value(DEVICE), null));
    }

    /** The function of the host. */
    static DeviceInfo function(Machine host, SampleSettings settings) {
        return host.findDevice(
                SampleDevices.hostFunction(settings.topology(), settings.value(DEVICE)));
    }
}
