package io.softdpu.block.file;

import io.softdpu.core.execution.DescriptorWatch;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.core.spi.FixedQueue;
import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.RestrictedThreads;
import io.softdpu.linux.RestrictedThreads.Scope;
import io.softdpu.linux.Uring;
import org.jspecify.annotations.Nullable;

/**
 * Channel whose steps are requests of io_uring, in a ring of its own. Each pass that begins steps
 * makes one system call for all of them; the ends are read from memory. Data and holes, for which
 * io_uring has no operation, are found by a thread of the device.
 */
final class UringChannel extends StepChannel {
    /** Limit of steps that one system call begins. */
    private static final int MAX_ENTRIES = 4096;

    /**
     * Limit of completions of one pass from a disk, whose requests are followed by others in the
     * same pass. Without it one that ends all requests at once is idle until as many others are
     * submitted, and the thread then waits for the end of all of them: neither works while the
     * other does.
     */
    private static final int MAX_TAKEN = 8;

    /** Limit of the kernel's threads for what would block, such as cache misses. */
    private static final int MAX_KERNEL_THREADS = 16;

    private final Uring ring;
    private final DescriptorWatch watch;
    private final FixedQueue<Slot> waiting;

    /** Limit of completions that a pass takes. */
    private final int maxTaken;

    /**
     * Creates a channel.
     *
     * @throws LinuxException if there is no ring: too little memory, or no descriptor left
     * @throws io.softdpu.core.DpuException if the engine cannot watch it
     */
    UringChannel(FileDevice device, int fd, int place, ContextServices services, int maxRequests) {
        super(device, fd, place, services.copier(), services::wake, maxRequests);
        this.waiting = new FixedQueue<>(maxSteps());
        this.maxTaken = device.isDirect() ? MAX_TAKEN : Integer.MAX_VALUE;
        int pending = Math.min(maxSteps(), Uring.MAX_PENDING);
        @Nullable Scope before = RestrictedThreads.enter(Scope.OWN_MEMORY); // that of the ring
        try {
            this.ring = new Uring(Math.min(pending, MAX_ENTRIES), pending);
        } finally {
            RestrictedThreads.leave(before);
        }
        boolean watched = false;
        try {
            limitKernelThreads();
            watch = services.watch(ring.fd(), DescriptorWatch.READABLE, (_, _) -> {});
            watched = true;
        } finally {
            if (!watched) {
                closeRing();
            }
        }
    }

    private void limitKernelThreads() {
        try {
            Uring.WorkerLimits _ = ring.limitWorkers(MAX_KERNEL_THREADS, 0);
        } catch (LinuxException e) {
            if (e.errno() != Errno.EINVAL) { // a kernel before 5.15 has its own limit
                throw e;
            }
        }
    }

    @Override
    void start(Slot slot) {
        if (slot.step == Step.FIND) { // the only one that io_uring lacks
            handOver(slot);
        } else if (ring.isFull() || !waiting.isEmpty()) { // none overtakes those that wait
            waiting.add(slot);
        } else {
            fill(slot);
        }
    }

    private void fill(Slot slot) {
        int length = (int) slot.lengthBytes;
        long data = (long) slot.generation << Integer.SIZE | slot.index;
        switch (slot.step) {
            case READ ->
                    ring.read(
                            fd(),
                            slot.memory,
                            slot.memoryOffsetBytes,
                            length,
                            slot.offsetBytes,
                            data);
            case WRITE -> fillWrite(slot, length, data);
            case SYNC -> ring.syncData(fd(), slot.offsetBytes, length, data);
            case ALLOCATE ->
                    ring.allocate(fd(), slot.mode, slot.offsetBytes, slot.lengthBytes, data);
            case FIND, RENEW -> throw new IllegalStateException("no step of a ring");
        }
    }

    private void fillWrite(Slot slot, int length, long data) {
        if (slot.durable) {
            ring.writeDurably(
                    fd(), slot.memory, slot.memoryOffsetBytes, length, slot.offsetBytes, data);
        } else {
            ring.write(fd(), slot.memory, slot.memoryOffsetBytes, length, slot.offsetBytes, data);
        }
    }

    @Override
    public boolean progress() {
        boolean any = take();
        any |= super.progress();
        return submitAll() || any;
    }

    /** Submits the steps that were begun, and those that wait as far as there is room for them. */
    private boolean submitAll() {
        boolean any = false;
        boolean more;
        do {
            while (!waiting.isEmpty() && !ring.isFull()) {
                fill(waiting.remove());
            }
            more = ring.submit() > 0;
            any |= more;
        } while (more && !waiting.isEmpty());
        return any;
    }

    /** Ends steps whose completions are there, up to the limit; the next pass ends others. */
    private boolean take() {
        int taken = 0;
        while (taken < maxTaken && ring.next()) {
            taken++;
            long data = ring.userData();
            Slot slot = slot((int) data);
            if (slot.generation != (int) (data >>> Integer.SIZE)) {
                throw new IllegalStateException(
                        "completion of no step: userData=0x"
                                + Long.toHexString(data)
                                + ", result="
                                + ring.result()
                                + ", expected=generation "
                                + slot.generation);
            }
            stepEnded(slot, ring.result());
        }
        return taken > 0;
    }

    @Override
    public void ring() {
        super.ring();
        boolean _ = submitAll();
    }

    @Override
    public boolean arm() {
        boolean reported = super.arm();
        boolean _ = submitAll();
        return reported || ring.hasNext() || ring.unsubmitted() > 0;
    }

    @Override
    void takeBackWaiting() {
        while (!waiting.isEmpty()) {
            stepEnded(waiting.remove(), Slot.NOT_BEGUN);
        }
    }

    @Override
    void release() {
        watch.close();
        closeRing();
    }

    private void closeRing() {
        @Nullable Scope before = RestrictedThreads.enter(Scope.OWN_MEMORY);
        try {
            ring.close();
        } finally {
            RestrictedThreads.leave(before);
        }
    }
}
