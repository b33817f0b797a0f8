package io.softdpu.linux;

import static io.softdpu.linux.AllocationMeter.OPERATIONS;
import static io.softdpu.linux.AllocationMeter.bytesPerOperation;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The calls of the data path allocate nothing on the heap, once they are compiled. */
final class HotCallAllocationTest {
    private final OpenFiles files = new OpenFiles();

    @AfterEach
    void closeFiles() {
        files.close();
    }

    @Test
    void shouldMeasureWhatIsAllocated() {
        Object[] kept = new Object[1];

        assertThat(bytesPerOperation(Duration.ZERO, () -> kept[0] = new byte[16]))
                .isGreaterThanOrEqualTo(16);
    }

    @Test
    void shouldNotAllocateWhenRingingAndDraining() {
        int[] pair = files.pair();

        assertThat(
                        bytesPerOperation(() -> {
                            Doorbell.ring(pair[0]);
                            Doorbell.drain(pair[1]);
                        }))
                .isLessThan(1);
    }

    /** As a link does for as long as the kernel lets descriptors in. */
    @Test
    void shouldNotAllocateWhenRingingAndDrainingWatchfully() {
        int[] pair = files.pair();
        long[] dropped = new long[1];

        assertThat(
                        bytesPerOperation(() -> {
                            Doorbell.ring(pair[0]);
                            dropped[0] += Doorbell.drainWithPeek(pair[1]);
                        }))
                .isLessThan(1);
        assertThat(dropped[0]).isGreaterThanOrEqualTo(OPERATIONS);
    }

    @Test
    void shouldNotAllocateWhenWaiting() {
        int[] pair = files.pair();
        Doorbell.ring(pair[0]);
        try (Epoll epoll = new Epoll(8)) {
            epoll.add(pair[1], Epoll.IN, 3);
            long[] sum = new long[1];

            assertThat(
                            bytesPerOperation(() -> {
                                epoll.await(0);
                                sum[0] += epoll.data(0) + epoll.events(0);
                            }))
                    .isLessThan(1);
            assertThat(sum[0]).isPositive();
        }
    }

    @Test
    void shouldNotAllocateWhenWaitingByNanosecondsOrByATimerDescriptor() {
        int timer = files.own(TimerFd.create());
        int[] pair = files.pair();
        Doorbell.ring(pair[0]);
        try (Epoll epoll = new Epoll(8)) {
            epoll.add(pair[1], Epoll.IN, 3);
            epoll.add(timer, Epoll.IN, 4);
            long[] sum = new long[1];

            assertThat(
                            bytesPerOperation(() -> {
                                TimerFd.arm(timer, Long.MAX_VALUE);
                                sum[0] += epoll.await(-1);
                                TimerFd.disarm(timer);
                            }))
                    .isLessThan(1);
            assertThat(sum[0]).isPositive();
        }
    }

    @Test
    void shouldNotAllocateWhenSignalling() {
        int fd = files.own(EventFd.create());

        assertThat(
                        bytesPerOperation(() -> {
                            EventFd.signal(fd);
                            EventFd.drain(fd);
                            EventFd.drain(fd);
                        }))
                .isLessThan(1);
    }

    @Test
    void shouldNotAllocateWhenCopying() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(1 << 12);
            MemorySegment to = arena.allocate(1 << 12);

            assertThat(
                            bytesPerOperation(() -> {
                                NativeMemory.copy(from, 64, to, 0, 64);
                                NativeMemory.copy(to, 0, from, 0, 1 << 12);
                            }))
                    .isLessThan(1);
        }
    }

    @Test
    void shouldNotAllocateWhenSendingAndReceivingMessages() {
        int[] pair = files.pair();
        ReceivedMessage message = new ReceivedMessage(64, 2);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(64);

            assertThat(
                            bytesPerOperation(() -> {
                                Socket.send(pair[0], bytes, 64);
                                DescriptorPassing.receive(pair[1], message);
                            }))
                    .isLessThan(1);
        }
    }

    @Test
    void shouldNotAllocateWhenReadingAndWritingFiles() {
        int fd = files.own(Memfd.create("test"));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(64);

            assertThat(
                            bytesPerOperation(() -> {
                                FileIo.write(fd, bytes, 0);
                                FileIo.read(fd, bytes, 0);
                            }))
                    .isLessThan(1);
        }
    }
}
