package io.softdpu.perf.pair;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.perf.card.ComchPair;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Opening of the device of one side of a measurement. */
public final class SideDevice {
    private SideDevice() {}

    /**
     * Opens the machine and the device of a side, and pins the calling thread after that: it stays
     * pinned.
     *
     * @param resources what closes both
     * @param importLimitBytes of the machine; 0 for the default
     * @param cpus to pin the thread to; null for none
     */
    public static Device open(
            ResourceStack resources,
            Side side,
            ComchPair pair,
            Path fabric,
            long importLimitBytes,
            @Nullable PerfCpus cpus) {
        Machine.Builder builder =
                Machine.builder(side).topology(pair.topology()).fabricFolder(fabric);
        if (importLimitBytes > 0) {
            builder.importedBytesLimit(importLimitBytes)
                    .importedBytesLimitPerPeer(importLimitBytes);
        }
        Machine machine = resources.keep(builder.open());
        Device device =
                resources.keep(machine.findDevice(pair.of(side).pciAddress().toString()).open());
        pin(side, cpus);
        return device;
    }

    /**
     * Pins the calling thread. After the machine was opened, and other threads were started: they
     * inherit the affinity of this one.
     *
     * @param cpus of both sides; null to leave the thread to the scheduler
     */
    public static void pin(Side side, @Nullable PerfCpus cpus) {
        if (cpus != null) {
            CpuBinding.hard(cpus.of(side)).bindCurrentThread();
        }
    }
}
