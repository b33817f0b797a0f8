package io.softdpu.block.file;

import io.softdpu.block.BlockContext;
import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.ProcessLimit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Program that has too few descriptors while it opens a volume, and while it starts a context of
 * one, and enough when it tries again. Prints a line per failure, and one that begins with PROBLEM
 * for each unexpected result. Argument: the folder.
 */
final class FileExhaustionProgram {
    private static final int BLOCK_BYTES = 512;
    private static final long SIZE_BYTES = 1 << 20;

    /** More than an open, and a start, have at a time. */
    private static final int ENOUGH = 6;

    private final Path folder;

    private FileExhaustionProgram(Path folder) {
        this.folder = folder;
    }

    /** Runs. */
    public static void main(String[] arguments) throws Throwable {
        ProcessLimit.prepare();
        FileExhaustionProgram program = new FileExhaustionProgram(Path.of(arguments[0]));
        program.open(false);
        program.open(true);
        program.start();
        program.startWithATimer();
        System.out.println("DONE");
    }

    private FileOptions options(String name, boolean direct) {
        return new FileOptions(
                folder.resolve(name), direct, false, false, SIZE_BYTES, 0, Duration.ZERO);
    }

    private void open(boolean direct) throws Throwable {
        for (int free = ENOUGH; free >= 0; free--) {
            FileOptions options = options("open-" + direct + "-" + free, direct);
            Callable<FileDevice> call = () -> FileDevice.open(options, BLOCK_BYTES);
            LeakCheck before = LeakCheck.begin(folder);
            FileDevice opened = underLimit("OPEN", options.file(), free, call);
            if (opened != null) {
                opened.close();
            }
            before.assertNothingLeft();
            call.call().close(); // no lock is left either
        }
    }

    private void start() throws Throwable {
        Path file = folder.resolve("start");
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("p0").open();
                BlockDevice volume = BlockDevice.open("file:" + file + "?create=" + SIZE_BYTES);
                ProgressEngine engine = ProgressEngine.create()) {
            volume.attach(device);
            start(volume, engine, 2 * ENOUGH); // what the engine makes at its first use stays
            for (int free = ENOUGH; free >= 0; free--) {
                LeakCheck before = LeakCheck.begin(folder);
                start(volume, engine, free);
                before.assertNothingLeft();
            }
        }
    }

    /** An engine makes its timer at the first use: with threads, that is the one of the faults. */
    private void startWithATimer() throws Throwable {
        String uri = "fault:delay=read/1us:file:" + folder.resolve("start") + "?threads=1";
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("p0").open();
                BlockDevice volume = BlockDevice.open(uri, BLOCK_BYTES)) {
            volume.attach(device);
            for (int free = 2 * ENOUGH; free >= 0; free--) {
                LeakCheck before = LeakCheck.begin(folder);
                try (ProgressEngine engine = ProgressEngine.create()) {
                    start(volume, engine, free);
                }
                if (free <= ENOUGH) { // what is made at the first use stays
                    before.assertNothingLeft();
                }
            }
        }
    }

    private void start(BlockDevice volume, ProgressEngine engine, int free) throws Throwable {
        try (BlockContext context = volume.createContext()) {
            context.setReadTasks(1, _ -> {}, _ -> {});
            engine.connect(context);
            Callable<BlockContext> call =
                    () -> {
                        context.start();
                        return context;
                    };
            if (underLimit("START", folder.resolve("start"), free, call) == null) {
                context.start();
            }
        }
    }

    /** The result of a call with so many free descriptors; null if it fails. */
    private static <T> @Nullable T underLimit(String name, Path file, int free, Callable<T> call)
            throws Throwable {
        DpuException failure;
        ProcessLimit.DESCRIPTORS.lower(free);
        try {
            return call.call();
        } catch (DpuException e) {
            failure = e;
        } finally {
            ProcessLimit.DESCRIPTORS.raise();
        }
        String message = String.valueOf(failure.getMessage());
        System.out.println(name + " free=" + free + " " + failure.status() + ": " + message);
        boolean isOfFile =
                failure.status() == Status.NO_MEMORY && message.contains(file.toString());
        if (!isOfFile && failure.status() != Status.OPERATING_SYSTEM) { // that of the engine
            System.out.println("PROBLEM " + name + ": " + message);
        }
        return null;
    }
}
