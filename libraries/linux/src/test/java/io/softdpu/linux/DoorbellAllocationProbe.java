package io.softdpu.linux;

import java.time.Duration;
import java.util.function.IntConsumer;

/** Program that prints the heap bytes that a doorbell and its drain allocate, a line for each. */
final class DoorbellAllocationProbe {
    private DoorbellAllocationProbe() {}

    public static void main(String[] arguments) {
        print("drain", Doorbell::drain);
        print("drainWithPeek", Doorbell::drainWithPeek);
    }

    private static void print(String name, IntConsumer drain) {
        OpenFiles files = new OpenFiles();
        int[] pair = files.pair();
        double bytes =
                AllocationMeter.bytesPerOperation(
                        Duration.ZERO,
                        () -> {
                            Doorbell.ring(pair[0]);
                            drain.accept(pair[1]);
                        });
        files.close();
        System.out.println(name + ": bytes=" + Math.round(bytes));
    }
}
