package io.softdpu.block.contract;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.testkit.SeededRandom;

/**
 * Program that writes numbers to the blocks of a volume, with FUA and flushes between, until it is
 * killed; a line per acknowledgement, which {@link Acknowledgements} reads. Each word of a block
 * tells the block and the number of the write. A random one of two contexts executes each task.
 *
 * <p>Arguments: URI, seed. Prints {@code OPEN}, {@code BLOCK NUMBER} or {@code BLOCK NUMBER fua}
 * behind a write, and {@code flush} behind a flush.
 */
final class FileKillProgram {
    private static final double FUA_RATE = 0.1;
    private static final double FLUSH_RATE = 0.05;

    private FileKillProgram() {}

    /** Runs until it is killed. */
    public static void main(String[] args) {
        SeededRandom random = new SeededRandom(Long.parseLong(args[1]));
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("p0").open();
                BlockDevice volume = BlockDevice.open(args[0], Acknowledgements.BLOCK_BYTES)) {
            volume.attach(device);
            try (Submitter one = Submitter.start(volume, 4);
                    Submitter two = Submitter.start(volume, 4)) {
                System.out.println("OPEN");
                for (long number = 1; ; number++) {
                    write(random.nextBoolean() ? one : two, number, random);
                    if (random.chance(FLUSH_RATE)) {
                        require((random.nextBoolean() ? one : two).flush());
                        System.out.println(Acknowledgements.FLUSH);
                    }
                }
            }
        }
    }

    private static void write(Submitter submitter, long number, SeededRandom random) {
        int block = (int) random.between(0, Acknowledgements.BLOCKS - 1);
        boolean fua = random.chance(FUA_RATE);
        require(
                submitter.write(
                        (long) block * Acknowledgements.BLOCK_BYTES,
                        Acknowledgements.content(block, number),
                        fua));
        System.out.println(block + " " + number + (fua ? " " + Acknowledgements.FUA : ""));
    }

    private static void require(Status ended) {
        if (ended != Status.SUCCESS) {
            throw new AssertionError("failed: " + ended);
        }
    }
}
