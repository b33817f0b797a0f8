package io.softdpu.core.sync;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.linux.text.Text;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Process with three DPU handles that add, a thread each, and one whose thread sleeps until the sum
 * is reached. Arguments: folder, blob, additions per thread, the sum.
 */
public final class SyncEventAdders {
    private static final int HANDLES = 3;

    private SyncEventAdders() {}

    public static void main(String[] arguments) throws Exception {
        byte[] blob = HexFormat.of().parseHex(arguments[1]);
        int additions = Integer.parseInt(arguments[2]);
        long sum = Long.parseLong(arguments[3]);
        try (Machine machine =
                        Machine.builder(Side.DPU).fabricFolder(Path.of(arguments[0])).open();
                Device port = machine.findDevice("p0").open()) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < HANDLES; i++) {
                SyncEvent handle = SyncEvent.createFromExport(blob, port).start();
                threads.add(
                        Thread.ofPlatform()
                                .start(() -> {
                                    for (int done = 0; done < additions; done++) {
                                        handle.add(1);
                                    }
                                    handle.stop();
                                    handle.close();
                                }));
            }
            System.out.println("adding");
            SyncEvent handle = SyncEvent.createFromExport(blob, port);
            SyncEventContext context = handle.asContext();
            context.start();
            System.out.println("sleeps " + untilSum(context, sum));
            for (Thread thread : threads) {
                thread.join();
            }
            context.stop();
            handle.close();
        }
        System.out.println("done");
    }

    /** Sleeps again and again, each time for some more additions, until the sum is reached. */
    static int untilSum(SyncEventContext context, long sum) {
        int sleeps = 0;
        long reached = 0;
        while (reached < sum) {
            sleeps++;
            long next = Math.min(reached + 1 + sum / 50, sum);
            reached = QueueWaiter.sleep(context, next - 1).value();
        }
        if (reached != sum) {
            throw new AssertionError(
                    Text.format("sum is wrong: sum=%d, expected=%d", reached, sum));
        }
        return sleeps;
    }
}
