package io.softdpu.storage.worker;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Meter of the heap that the current thread has allocated; reading it allocates nothing. */
final class AllocationMeter {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private AllocationMeter() {}

    /** Bytes that the current thread has allocated since it began. */
    static long currentThreadBytes() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }
}
