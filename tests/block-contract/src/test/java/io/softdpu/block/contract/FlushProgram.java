package io.softdpu.block.contract;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;

/**
 * Program that writes a block and flushes it. Arguments: URI. Prints {@code WRITTEN} before the
 * flush, and {@code FLUSHED} when it has completed.
 */
final class FlushProgram {
    private FlushProgram() {}

    /** Runs to its end. */
    public static void main(String[] arguments) {
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("p0").open();
                BlockDevice volume = BlockDevice.open(arguments[0])) {
            volume.attach(device);
            try (Submitter submitter = Submitter.start(volume, 4)) {
                submitter.write(0, new byte[4096]);
                System.out.println("WRITTEN");
                if (submitter.flush() == Status.SUCCESS) {
                    System.out.println("FLUSHED");
                }
                submitter.stop();
            }
        }
    }
}
