package io.softdpu.block.file;

import io.softdpu.core.spi.ContextServices;

/** Channel whose steps are done by threads of the device. */
final class ThreadsChannel extends StepChannel {
    ThreadsChannel(
            FileDevice device, int fd, int place, ContextServices services, int maxRequests) {
        super(device, fd, place, services.copier(), services::wake, maxRequests);
    }

    @Override
    void start(Slot slot) {
        handOver(slot);
    }

    /** All are with the threads. */
    @Override
    void takeBackWaiting() {}

    @Override
    void release() {}
}
