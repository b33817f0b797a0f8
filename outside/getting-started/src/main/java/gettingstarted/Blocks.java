package gettingstarted;

import io.softdpu.block.BlockContext;
import io.softdpu.block.BlockDevice;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import java.time.Duration;

/** A block that is written, made durable and read again, on any block device. */
public final class Blocks {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int BLOCK_BYTES = BlockDevice.DEFAULT_BLOCK_SIZE_BYTES;

    public static void main(String[] arguments) {
        String uri = arguments.length == 1 ? arguments[0] : "memory:64MiB";
        try (Machine machine = Machine.open(Side.TARGET);
                Device device = machine.findDevice("t0").open();
                LocalMemory memory = LocalMemory.allocate(2 * BLOCK_BYTES);
                Mmap mmap =
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE))
                                .addDevice(device)
                                .start();
                BufInventory inventory = BufInventory.create(2).start();
                BlockDevice volume = BlockDevice.open(uri);
                ProgressEngine engine = ProgressEngine.create()) {
            volume.attach(device);
            System.out.println(volume.properties());
            memory.segment().setString(0, "written to a block");
            try (BlockContext context = volume.createContext()) {
                writeAndRead(engine, context, inventory, mmap);
            }
            System.out.println(memory.segment().getString(BLOCK_BYTES));
        }
    }

    private static void writeAndRead(
            ProgressEngine engine, BlockContext context, BufInventory inventory, Mmap mmap) {
        boolean[] done = {false};
        Buf source = inventory.bufByData(mmap, 0, BLOCK_BYTES);
        Buf destination = inventory.bufByAddress(mmap, BLOCK_BYTES, BLOCK_BYTES);
        context.setWriteTasks(
                1,
                write -> {
                    write.free();
                    context.allocateFlush().submit(); // the write has completed: it is covered
                },
                write -> fail(write.status()));
        context.setFlushTasks(
                1,
                flush -> {
                    flush.free();
                    context.allocateRead(0, BLOCK_BYTES, destination).submit();
                },
                flush -> fail(flush.status()));
        context.setReadTasks(
                1,
                read -> {
                    read.free();
                    done[0] = true;
                },
                read -> fail(read.status()));
        engine.start(context, TIMEOUT);
        context.allocateWrite(0, source).submit();
        engine.runUntil(() -> done[0], TIMEOUT, context);
        source.release();
        destination.release();
    }

    private static void fail(Status status) {
        throw new IllegalStateException("task of a block device failed: status=" + status);
    }
}
