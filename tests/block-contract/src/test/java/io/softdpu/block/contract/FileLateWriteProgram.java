package io.softdpu.block.contract;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockWriteTask;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.memory.Buf;
import java.io.IOException;
import java.util.Arrays;

/**
 * Program that writes a volume once, and has writes of all of it in flight when it is told to.
 *
 * <p>Arguments: URI. Prints {@code WRITTEN}, waits for a byte of its input, and prints {@code
 * SUBMITTED} when the kernel has the writes.
 */
final class FileLateWriteProgram {
    /** Number of writes in flight. */
    static final int WRITES = 16;

    /** Length of each in bytes. */
    static final int WRITE_BYTES = 64 << 10;

    /** Size of the volume in bytes. */
    static final int BYTES = WRITES * WRITE_BYTES;

    private static final int BLOCK_BYTES = 4096;
    private static final byte CONTENT = 1;

    private FileLateWriteProgram() {}

    /** Runs until it is killed. */
    public static void main(String[] args) throws IOException {
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("p0").open();
                BlockDevice volume = BlockDevice.open(args[0], BLOCK_BYTES)) {
            volume.attach(device);
            try (Submitter submitter = Submitter.start(volume, WRITES)) {
                byte[] content = new byte[BYTES];
                Arrays.fill(content, CONTENT);
                submitter.write(0, content); // in place from now on
                System.out.println("WRITTEN");
                int _ = System.in.read();
                for (int at = 0; at < BYTES; at += WRITE_BYTES) {
                    Buf buf = submitter.data(at, WRITE_BYTES);
                    BlockWriteTask task = submitter.context.allocateWrite(at, buf);
                    if (submitter.submit(task) != Status.SUCCESS) {
                        throw new AssertionError("refused: at=" + at);
                    }
                }
                submitter.progress();
                System.out.println("SUBMITTED");
                submitter.awaitEnd();
                System.out.println("ENDED");
            }
        }
    }
}
