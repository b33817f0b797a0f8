package io.softdpu.storage.worker;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** How much heap the current thread has allocated. The question itself allocates nothing. */
public final class AllocationMeter {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private AllocationMeter() {}

    /** Bytes that the current thread has allocated since it began. */
    public static long currentThreadBytes() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }
}
