package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.thread.DescriptorCloser;
import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.UnixSocket;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LingeringSocket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/** Closing threads of a bus, blocked by descriptors as a peer may send them. One bus at a time. */
public final class BlockedClosers implements AutoCloseable {
    private final Deque<LingeringSocket> lingering = new ArrayDeque<>();

    /** Blocks all of them, until it is closed. */
    public BlockedClosers(Bus bus) throws IOException {
        for (int i = 0; i < DescriptorCloser.THREADS_LIMIT; i++) {
            LingeringSocket inner = LingeringSocket.open();
            lingering.push(inner);
            int[] pair = UnixSocket.pair();
            int error =
                    DescriptorPassing.send(
                            pair[0], MemorySegment.ofArray(new byte[1]), 1, inner.descriptor());
            assertThat(error).isZero();
            inner.sent();
            FileDescriptors.close(pair[0]);
            bus.threads().closer().closeRefused(pair[1]);
        }
        Await.until("all closing threads are blocked", this::isEffective);
    }

    /** Whether all are blocked still. */
    public boolean isEffective() {
        return LingeringSocket.blockedCloses() == lingering.size();
    }

    @Override
    public void close() throws IOException {
        while (!lingering.isEmpty()) {
            lingering.pop().close();
        }
    }
}
