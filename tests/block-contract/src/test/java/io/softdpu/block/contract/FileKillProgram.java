package io.softdpu.block.contract;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * Program that writes numbers to the blocks of a volume, with FUA and flushes between, until it is
 * killed; a line per acknowledged write. Each word of a block has the number of the write.
 *
 * <p>Arguments: URI, seed. Prints {@code OPEN}, and {@code BLOCK NUMBER}.
 */
final class FileKillProgram {
    /** Number of blocks. */
    static final int BLOCKS = 64;

    /** Size of a block: several sectors, of which a kill may leave some. */
    static final int BLOCK_BYTES = 4096;

    private FileKillProgram() {}

    /** Runs until it is killed. */
    public static void main(String[] args) {
        SeededRandom random = new SeededRandom(Long.parseLong(args[1]));
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("p0").open();
                BlockDevice volume = BlockDevice.open(args[0], BLOCK_BYTES)) {
            volume.attach(device);
            try (Submitter submitter = Submitter.start(volume, 4)) {
                System.out.println("OPEN");
                for (long number = 1; ; number++) {
                    write(submitter, (int) random.between(0, BLOCKS - 1), number, random);
                }
            }
        }
    }

    private static void write(Submitter submitter, int block, long number, SeededRandom random) {
        byte[] bytes = new byte[BLOCK_BYTES];
        ByteBuffer content = ByteBuffer.wrap(bytes).order(ValueLayout.JAVA_LONG.order());
        for (int at = 0; at < BLOCK_BYTES; at += Long.BYTES) {
            content.putLong(at, number);
        }
        require(submitter.write((long) block * BLOCK_BYTES, bytes, random.chance(0.1)));
        if (random.chance(0.05)) {
            require(submitter.flush());
        }
        System.out.println(block + " " + number);
    }

    private static void require(Status ended) {
        if (ended != Status.SUCCESS) {
            throw new AssertionError("failed: " + ended);
        }
    }
}
