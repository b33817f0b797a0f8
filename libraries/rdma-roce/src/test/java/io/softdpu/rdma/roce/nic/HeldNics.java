package io.softdpu.rdma.roce.nic;

import io.softdpu.testkit.Patience;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The NICs of this process whose threads are held, so that no packet leaves. */
public final class HeldNics {
    private static @Nullable CountDownLatch release;

    private HeldNics() {}

    /** Holds the threads of all NICs that run. */
    public static synchronized void hold() {
        CountDownLatch until = new CountDownLatch(1);
        release = until;
        for (Nic nic : Nic.running()) {
            CountDownLatch held = new CountDownLatch(1);
            nic.post(() -> {
                held.countDown();
                await(until);
            });
            await(held);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(Patience.NANOS, TimeUnit.NANOSECONDS)) {
                throw new IllegalStateException("not released: deadline=" + Patience.LIMIT);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Releases them; does nothing if none is held. */
    public static synchronized void release() {
        CountDownLatch held = release;
        if (held != null) {
            release = null;
            held.countDown();
        }
    }
}
