package io.softdpu.linux;

import static io.softdpu.linux.AllocationMeter.OPERATIONS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Program that prints the heap bytes that calls of the data path allocate once they are compiled, a
 * line for each.
 */
final class HotCallAllocationProbe {
    private HotCallAllocationProbe() {}

    public static void main(String[] arguments) {
        try (OpenFiles files = new OpenFiles();
                Epoll epoll = new Epoll(8);
                Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(1 << 12);
            MemorySegment to = arena.allocate(1 << 12);
            ringAndDrain(files.pair());
            await(epoll, files);
            signal(files.own(EventFd.create()));
            print(
                    "copy",
                    () -> {
                        NativeMemory.copy(from, 64, to, 0, 64);
                        NativeMemory.copy(to, 0, from, 0, 1 << 12);
                    });
            int[] pair = files.pair();
            ReceivedMessage message = new ReceivedMessage(64, 2);
            print(
                    "send and receive",
                    () -> {
                        Socket.send(pair[0], from, 64);
                        DescriptorPassing.receive(pair[1], message);
                    });
            int file = files.own(Memfd.create("test"));
            print(
                    "write and read",
                    () -> {
                        FileIo.write(file, from.asSlice(0, 64), 0);
                        FileIo.read(file, from.asSlice(0, 64), 0);
                    });
            print(
                    "write durably and sync",
                    () -> {
                        FileIo.writeDurably(file, from.asSlice(0, 64), 0);
                        FileIo.syncData(file);
                        FileIo.takeLossReport(file);
                    });
            requests(file, from);
        }
    }

    private static void requests(int file, MemorySegment memory) {
        try (Uring ring = new Uring(4, 4)) {
            long[] completed = new long[1];
            print(
                    "requests of a ring",
                    () -> {
                        ring.write(file, memory, 0, 64, 0, 1);
                        ring.read(file, memory, 64, 64, 0, 2);
                        ring.submit();
                        while (ring.pending() > 0) {
                            if (ring.next()) {
                                completed[0] += ring.result();
                            }
                        }
                    });
            requireDone("completed", completed[0] / 64);
        } catch (LinuxException e) {
            System.out.println("no ring: " + e.call());
        }
    }

    private static void ringAndDrain(int[] pair) {
        print(
                "ring and drain",
                () -> {
                    Doorbell.ring(pair[0]);
                    Doorbell.drain(pair[1]);
                });
        // As a link does for as long as the kernel lets descriptors in.
        long[] dropped = new long[1];
        print(
                "ring and drain with peek",
                () -> {
                    Doorbell.ring(pair[0]);
                    dropped[0] += Doorbell.drainWithPeek(pair[1]);
                });
        requireDone("dropped", dropped[0]);
    }

    private static void await(Epoll epoll, OpenFiles files) {
        int[] pair = files.pair();
        int timer = files.own(TimerFd.create());
        Doorbell.ring(pair[0]);
        epoll.add(pair[1], Epoll.IN, 3);
        epoll.add(timer, Epoll.IN, 4);
        long[] ready = new long[1];
        print(
                "await",
                () -> {
                    ready[0] += epoll.await(0);
                    ready[0] += epoll.data(0) + epoll.events(0);
                });
        print(
                "await with a timer descriptor",
                () -> {
                    TimerFd.arm(timer, Long.MAX_VALUE);
                    ready[0] += epoll.await(-1);
                    TimerFd.disarm(timer);
                });
        requireDone("ready", ready[0]);
    }

    private static void signal(int fd) {
        print(
                "signal and drain",
                () -> {
                    EventFd.signal(fd);
                    EventFd.drain(fd);
                    EventFd.drain(fd);
                });
    }

    private static void requireDone(String what, long count) {
        if (count < OPERATIONS) {
            throw new AssertionError(
                    "calls had no effect: " + what + "=" + count + ", expected=" + OPERATIONS);
        }
    }

    private static void print(String calls, Runnable operation) {
        System.out.println(
                calls + ": bytes=" + (long) AllocationMeter.bytesPerOperation(operation));
    }
}
