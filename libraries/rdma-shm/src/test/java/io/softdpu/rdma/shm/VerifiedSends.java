package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;

/**
 * Connection between two instances on one engine whose messages are numbered, of one to three
 * fragments, with bytes derived from the number; each received message is checked.
 */
final class VerifiedSends {
    private static final int TASKS = 4;
    private static final int ROOM = 3 * ShmConnection.GEOMETRY.maxPayloadBytes();

    private final SharedMemory memory = SharedMemory.allocate(2L * TASKS * ROOM);
    private final Mmap mmap = Mmap.create();
    private final BufInventory inventory = BufInventory.create(2 * TASKS);
    private final Deque<Buf> sources = new ArrayDeque<>();
    private final Rdma from;
    private final Rdma to;
    private final RdmaConnection sending;
    private long sent;
    private long received;
    private boolean posted;

    VerifiedSends(Device device, ProgressEngine engine) {
        mmap.setMemory(memory)
                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE))
                .addDevice(device)
                .start();
        inventory.start();
        for (int i = 0; i < TASKS; i++) {
            sources.add(inventory.bufByAddress(mmap, (long) i * ROOM, ROOM));
        }
        from = Rdma.create(device);
        from.setSendTasks(TASKS, this::sent, this::sent);
        engine.connect(from);
        from.start();
        to = Rdma.create(device);
        to.setReceiveTasks(TASKS, this::received, this::notReceived);
        engine.connect(to);
        to.start();
        sending = from.exportConnection();
        RdmaConnection receiving = to.exportConnection();
        from.connect(receiving.blob(), sending);
        to.connect(sending.blob(), receiving);
    }

    /** Number of received messages with the expected bytes. */
    long count() {
        return received;
    }

    /** Keeps all tasks busy once both are connected. */
    void pump() {
        if (to.state() == ContextState.RUNNING && !posted) {
            posted = true;
            for (int i = 0; i < TASKS; i++) {
                to.allocateReceive(inventory.bufByAddress(mmap, (long) (TASKS + i) * ROOM, ROOM))
                        .submit();
            }
        }
        while (sending.state() == RdmaConnection.State.CONNECTED
                && from.state() == ContextState.RUNNING
                && !sources.isEmpty()) {
            Buf source = sources.element();
            byte[] bytes = bytes(sent);
            MemorySegment.copy(
                    bytes,
                    0,
                    memory.segment(),
                    ValueLayout.JAVA_BYTE,
                    source.offset(),
                    bytes.length);
            source.setData(source.offset(), bytes.length);
            RdmaSendTask task = from.allocateSend(sending, source);
            if (task.trySubmit() != Status.SUCCESS) {
                task.free();
                return;
            }
            sources.remove();
            sent++;
        }
    }

    private void sent(RdmaSendTask task) {
        sources.add(task.source());
        task.free();
    }

    private void received(RdmaReceiveTask task) {
        Buf buf = task.destination();
        byte[] expected = bytes(received);
        assertThat(task.resultLength()).isEqualTo(expected.length);
        assertThat(
                        memory.segment()
                                .asSlice(buf.offset(), expected.length)
                                .mismatch(MemorySegment.ofArray(expected)))
                .as("first wrong byte of message %d", received)
                .isEqualTo(-1);
        received++;
        buf.resetDataLength();
        if (to.state() != ContextState.RUNNING || task.trySubmit() != Status.SUCCESS) {
            notReceived(task);
        }
    }

    private void notReceived(RdmaReceiveTask task) {
        task.destination().release();
        task.free();
    }

    private static byte[] bytes(long number) {
        byte[] bytes = new byte[8 + (int) (number * 997 % (ROOM - 8))];
        new SplittableRandom(number).nextBytes(bytes);
        return bytes;
    }

    void stop() {
        from.stop();
        to.stop();
    }

    boolean isIdle() {
        return from.state() == ContextState.IDLE && to.state() == ContextState.IDLE;
    }

    void close() {
        from.close();
        to.close();
        sources.forEach(Buf::release);
        inventory.close();
        mmap.close();
        memory.close();
    }
}
