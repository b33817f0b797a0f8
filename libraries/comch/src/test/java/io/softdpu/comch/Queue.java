package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Buf;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** Consumer and producer that record the results of their tasks. */
final class Queue {
    private Queue() {}

    /** Running consumer over memory of its own, which frees its completed tasks. */
    static final class Receiving {
        final ComchConsumer consumer;
        final Card.Memory memory;
        final List<ComchPostReceiveTask> done = new ArrayList<>();
        final List<Status> statuses = new ArrayList<>();
        final List<byte[]> data = new ArrayList<>();
        final List<Integer> producers = new ArrayList<>();
        final List<byte[]> immediates = new ArrayList<>();

        Receiving(Peer peer, ProgressEngine engine, long sizeBytes, int tasks) {
            this(peer, engine, peer.card.memory(peer.endpoint.device(), sizeBytes), tasks);
        }

        Receiving(Peer peer, ProgressEngine engine, Card.Memory memory, int tasks) {
            this.memory = memory;
            consumer = peer.card.keep(ComchConsumer.create(peer.connection(), memory.mmap()));
            engine.connect(consumer);
            consumer.setPostReceiveTasks(tasks, this::ended, this::ended);
            peer.card.atEnd(() -> Peer.stop(peer.card, consumer));
        }

        Receiving run(Card card) {
            consumer.start();
            card.until("consumer runs", () -> consumer.state() != ContextState.STARTING);
            return this;
        }

        Status post(long offset, long length) {
            return post(memory.inventory().bufByAddress(memory.mmap(), offset, length));
        }

        Status post(Buf buf) {
            ComchPostReceiveTask task = consumer.allocatePostReceiveTask(buf);
            Status submitted = task.trySubmit();
            if (submitted != Status.SUCCESS) {
                task.free();
            }
            return submitted;
        }

        private void ended(ComchPostReceiveTask task) {
            done.add(task);
            statuses.add(task.status());
            Buf buf = task.buf();
            data.add(
                    buf.mmap()
                            .segment()
                            .asSlice(
                                    buf.dataOffset() + buf.dataLength() - task.receivedLength(),
                                    task.receivedLength())
                            .toArray(ValueLayout.JAVA_BYTE));
            producers.add(task.producerId());
            immediates.add(
                    task.immediate()
                            .asSlice(0, task.immediateLength())
                            .toArray(ValueLayout.JAVA_BYTE));
            buf.release();
            task.free();
        }
    }

    /** Running producer with a source memory of its own, which frees its completed tasks. */
    static final class Sending {
        final ComchProducer producer;
        final Card.Memory memory;
        final List<Status> statuses = new ArrayList<>();

        Sending(Peer peer, ProgressEngine engine, long sizeBytes, int tasks) {
            memory = peer.card.memory(peer.endpoint.device(), sizeBytes);
            producer = peer.card.keep(ComchProducer.create(peer.connection()));
            engine.connect(producer);
            producer.setSendTasks(tasks, this::ended, this::ended);
            peer.card.atEnd(() -> Peer.stop(peer.card, producer));
        }

        Sending run(Card card) {
            producer.start();
            card.until("producer runs", () -> producer.state() != ContextState.STARTING);
            return this;
        }

        /** Puts bytes into the memory and sends them. */
        Status send(int consumerId, byte[] bytes, byte[] immediate) {
            MemorySegment.copy(
                    bytes, 0, memory.shared().segment(), ValueLayout.JAVA_BYTE, 0, bytes.length);
            return send(
                    consumerId,
                    memory.inventory().bufByData(memory.mmap(), 0, bytes.length),
                    immediate);
        }

        Status send(int consumerId, Buf buf, byte[] immediate) {
            ComchProducerSendTask task = producer.allocateSendTask(buf, consumerId);
            task.setImmediate(MemorySegment.ofArray(immediate), 0, immediate.length);
            Status submitted = task.trySubmit();
            if (submitted != Status.SUCCESS) {
                task.free();
                buf.release();
            }
            return submitted;
        }

        private void ended(ComchProducerSendTask task) {
            statuses.add(task.status());
            task.buf().release();
            task.free();
        }
    }
}
