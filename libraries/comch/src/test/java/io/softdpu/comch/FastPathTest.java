package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Soak;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Data from a producer to the buffers of a consumer. */
class FastPathTest extends FastPathFixture {
    @Clause({"cc-018", "cc-106", "cc-112"})
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 40, 63, 64, 65, 4096, 262_144, 262_145, 1_000_000})
    void shouldCarryDataOfEachSizeIntoThePostedBuffer(int size) {
        Queue.Receiving receiving = receiving(pair.server(), 2 * MIB, 4);
        Queue.Sending sending = sending(pair.client(), 2 * MIB, 4);
        assertThat(receiving.consumer.state()).isEqualTo(ContextState.RUNNING);
        assertThat(sending.producer.state()).isEqualTo(ContextState.RUNNING);
        MemorySegment memory = receiving.memory.shared().segment().fill((byte) 0x44);
        assertThat(receiving.post(128, MIB)).isEqualTo(Status.SUCCESS);
        card.settle();
        assertThat(receiving.statuses).isEmpty();
        byte[] bytes = pattern(size);
        MemorySegment source = sending.memory.shared().segment().fill((byte) 0xee);
        MemorySegment.copy(bytes, 0, source, ValueLayout.JAVA_BYTE, 192, size);
        Buf buf = sending.memory.inventory().bufByData(sending.memory.mmap(), 192, size);
        assertThat(sending.send(receiving.consumer.id(), buf, new byte[] {1, 2, 3}))
                .isEqualTo(Status.SUCCESS);
        card.until("received", () -> !receiving.statuses.isEmpty());
        card.until("sent", () -> !sending.statuses.isEmpty());
        assertThat(receiving.statuses).containsExactly(Status.SUCCESS);
        assertThat(sending.statuses).containsExactly(Status.SUCCESS);
        assertThat(receiving.data.getFirst()).isEqualTo(bytes);
        assertThat(receiving.immediates.getFirst()).containsExactly(1, 2, 3);
        assertThat(receiving.producers).containsExactly(sending.producer.id());
        assertThat(memory.asSlice(0, 128).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x44);
        assertThat(memory.asSlice(128 + size, 128).toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(0x44);
    }

    @Clause({"cc-005", "cc-007"})
    @ParameterizedTest
    @ValueSource(ints = {100, 5000, MIB})
    void shouldCopyDataOfManyOnceAndInTheProducersProcessOnly(int size) {
        Queue.Receiving[] to = {
            receiving(pair.server(), 2 * MIB, 2), receiving(pair.server(), 2 * MIB, 2)
        };
        Queue.Sending[] from = {
            sending(pair.client(), 2 * MIB, 2), sending(pair.client(), 2 * MIB, 2)
        };
        for (Queue.Receiving receiving : to) {
            receiving.post(0, MIB);
            receiving.post(MIB, MIB);
        }
        long producerSide = card.hostEngine.payloadBytesCopied();
        long consumerSide = card.dpuEngine.payloadBytesCopied();
        for (Queue.Sending sending : from) {
            for (Queue.Receiving receiving : to) {
                sending.send(receiving.consumer.id(), pattern(size), NOTHING);
            }
        }
        for (int i = 0; i < 20; i++) { // the consumers' engine stands still
            card.hostEngine.progress();
        }
        for (Queue.Sending sending : from) {
            assertThat(sending.statuses).containsExactly(Status.SUCCESS, Status.SUCCESS);
        }
        for (Queue.Receiving receiving : to) {
            MemorySegment memory = receiving.memory.shared().segment();
            for (long place : new long[] {0, MIB}) {
                assertThat(memory.asSlice(place, size).toArray(ValueLayout.JAVA_BYTE))
                        .isEqualTo(pattern(size));
            }
        }
        card.until("received", () -> to[0].data.size() + to[1].data.size() == 4);
        for (Queue.Receiving receiving : to) {
            assertThat(receiving.data).containsExactly(pattern(size), pattern(size));
        }
        assertThat(card.hostEngine.payloadBytesCopied() - producerSide).isEqualTo(4L * size);
        assertThat(card.dpuEngine.payloadBytesCopied() - consumerSide).isZero();
    }

    /** In a soak a gibibyte, which is too much memory for every build. */
    @Tag(Soak.TAG)
    @Test
    void shouldCarryALargeMessageAtOnce() {
        long size = (long) Soak.count(16, 64, 1024) << 20;
        Peer server = Peer.server(card, "large");
        Peer client = Peer.client(card, "large");
        for (Peer peer : List.of(server, client)) {
            peer.endpoint.start();
        }
        card.until("client", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("server", () -> server.connection != null);
        // The source and the buffer are in one memory, a few slices apart, to save half of it.
        Card.Memory memory = card.memory(card.p0, size + MIB);
        MemorySegment segment = memory.shared().segment();
        long[] marks = {0, size / 2, size - Long.BYTES};
        for (long mark : marks) {
            segment.set(ValueLayout.JAVA_LONG, MIB + mark, mark + 1);
        }
        Mmap source =
                card.keep(Mmap.create())
                        .setMemory(memory.shared())
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(card.pf0)
                        .start();
        ComchConsumer consumer = card.keep(ComchConsumer.create(server.connection, memory.mmap()));
        List<Status> received = new ArrayList<>();
        consumer.setPostReceiveTasks(
                1, task -> received.add(task.status()), task -> received.add(task.status()));
        card.dpuEngine.connect(consumer);
        card.atEnd(() -> Peer.stop(card, consumer));
        consumer.start();
        card.until("runs", () -> consumer.state() == ContextState.RUNNING);
        Queue.Sending sending = sending(client, 4096, 1);
        Buf to = memory.inventory().bufByAddress(memory.mmap(), 0, size);
        ComchPostReceiveTask task = consumer.allocatePostReceiveTask(to);
        task.submit();
        assertThat(
                        sending.send(
                                consumer.id(),
                                sending.memory.inventory().bufByData(source, MIB, size),
                                NOTHING))
                .isEqualTo(Status.SUCCESS);
        card.until("received", () -> !received.isEmpty());
        card.until("sent", () -> !sending.statuses.isEmpty());
        assertThat(received).containsExactly(Status.SUCCESS);
        assertThat(task.receivedLength()).isEqualTo(size);
        assertThat(to.dataLength()).isEqualTo(size);
        for (long mark : marks) {
            assertThat(segment.get(ValueLayout.JAVA_LONG, mark)).isEqualTo(mark + 1);
        }
        task.free();
        to.release();
    }

    /**
     * From memory that has as many bytes, of a file without contents. A message of the maximum
     * waits for a buffer, and is refused then for the size of that buffer alone.
     */
    @Clause("cc-010")
    @Test
    void shouldRefuseOneByteMoreThanTheMaximum() throws Exception {
        long maximum = ComchCapabilities.MAX_BUFFER_BYTES;
        assertThat(maximum).isEqualTo(2L << 30);
        assertThat(ComchCapabilities.of(card.pf0.info()).maxProducerBufferBytes())
                .isEqualTo(maximum);
        Queue.Receiving receiving = receiving(pair.server(), 4096, 1);
        Queue.Sending sending = sending(pair.client(), 4096, 1);
        card.until("told", () -> pair.client().consumers.size() == 1);
        try (FileChannel file =
                        FileChannel.open(
                                folder.resolve("sparse"),
                                StandardOpenOption.CREATE_NEW,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE);
                Arena arena = Arena.ofConfined();
                Mmap mmap = Mmap.create()) {
            mmap.setMemory(file.map(FileChannel.MapMode.READ_WRITE, 0, maximum + 1, arena))
                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                    .addDevice(card.pf0)
                    .start();
            Buf buf = sending.memory.inventory().bufByData(mmap, 0, maximum + 1);
            ComchProducerSendTask task =
                    sending.producer.allocateSendTask(buf, receiving.consumer.id());
            assertRefused(Status.INVALID_VALUE, task::submit)
                    .hasMessageContaining("2147483649")
                    .hasMessageContaining("2147483648");
            for (long allowed : new long[] {1L << 30, maximum}) {
                buf.setDataLength(allowed);
                assertThat(task.trySubmit()).as("%d bytes", allowed).isEqualTo(Status.AGAIN);
            }
            assertThat(receiving.post(0, 64)).isEqualTo(Status.SUCCESS);
            card.settle();
            assertRefused(Status.INVALID_VALUE, task::submit)
                    .hasMessageContaining("2147483648 > 64")
                    .hasMessageContaining("the next buffer of the consumer");
            task.free();
            buf.release();
        }
    }

    @Clause("cc-033")
    @Test
    void shouldSendReceiveAndReachTheFastPathByTheHandleOfTheConnection() {
        Peer other = Peer.client(card, Card.NAME);
        other.endpoint.start();
        card.until("other", () -> pair.server().connectionsOfEvents.size() == 2);
        card.until("other", () -> other.endpoint.state() == ContextState.RUNNING);
        ComchConnection handle = pair.server().connectionsOfEvents.getFirst();
        pair.server().connection = handle;
        assertThat(pair.server().send("by the handle")).isEqualTo(Status.SUCCESS);
        pair.client().send("to the handle");
        Queue.Receiving onServer = receiving(pair.server(), 4096, 1);
        Queue.Sending ofServer = sending(pair.server(), 4096, 1);
        Queue.Receiving onClient = receiving(pair.client(), 4096, 1);
        Queue.Sending ofClient = sending(pair.client(), 4096, 1);
        onServer.post(0, 64);
        onClient.post(0, 64);
        assertThat(ofServer.send(onClient.consumer.id(), pattern(8), NOTHING))
                .isEqualTo(Status.SUCCESS);
        assertThat(ofClient.send(onServer.consumer.id(), pattern(9), NOTHING))
                .isEqualTo(Status.SUCCESS);
        card.until("both", () -> onServer.data.size() + onClient.data.size() == 2);
        card.until("message", () -> !pair.client().messages.isEmpty());
        card.until("message", () -> !pair.server().messages.isEmpty());
        assertThat(pair.client().texts()).containsExactly("by the handle");
        assertThat(pair.server().messageConnections).containsExactly(handle);
        assertThat(onServer.consumer.connection()).isSameAs(handle);
        assertThat(ofServer.producer.connection()).isSameAs(handle);
        card.settle();
        assertThat(other.messages).isEmpty();
        assertThat(other.consumers).isEmpty();

        ComchConnection ofOther = pair.server().connectionsOfEvents.getLast();
        Peer.stop(card, other.endpoint);
        card.until("told", () -> pair.server().events.contains("disconnected true"));
        Card.Memory memory = card.memory(card.p0, 4096);
        assertRefused(Status.NOT_CONNECTED, () -> ComchProducer.create(ofOther))
                .hasMessageContainingAll("connection=" + ofOther, "connected=false");
        assertRefused(Status.NOT_CONNECTED, () -> ComchConsumer.create(ofOther, memory.mmap()))
                .hasMessageContainingAll("connection=" + ofOther, "connected=false");
    }

    @Clause({"cc-054", "cc-098", "cc-105"})
    @Test
    void shouldCompleteAPostedBufferWhenAProducerThatWasToldOfTheConsumerHasWritten() {
        Queue.Sending sending = sending(pair.client(), 2 * MIB, 1);
        Queue.Receiving receiving = receiving(pair.server(), 2 * MIB, 2);
        card.until("told", () -> pair.client().consumers.size() == 1);
        int told = pair.client().consumers.getFirst();
        assertThat(sending.send(told, pattern(8), NOTHING)).isEqualTo(Status.AGAIN);
        MemorySegment memory = receiving.memory.shared().segment();
        assertThat(receiving.post(1024, 64)).isEqualTo(Status.SUCCESS);
        assertThat(receiving.post(MIB, MIB)).isEqualTo(Status.SUCCESS);
        card.settle();
        assertThat(receiving.statuses).as("no producer has written").isEmpty();
        assertThat(sending.send(told, pattern(8), NOTHING)).isEqualTo(Status.SUCCESS);
        card.until("received", () -> !receiving.statuses.isEmpty());
        assertThat(receiving.statuses).containsExactly(Status.SUCCESS);
        byte[] published = memory.asSlice(1024, 64).toArray(ValueLayout.JAVA_BYTE);
        assertThat(published).startsWith(pattern(8));

        card.until("sent", () -> !sending.statuses.isEmpty());
        assertThat(sending.send(told, pattern(MIB), NOTHING)).isEqualTo(Status.SUCCESS);
        card.hostEngine.progress();
        card.dpuEngine.progress();
        assertThat(receiving.statuses).as("a slice of the second is written").hasSize(1);
        card.until("received", () -> receiving.statuses.size() == 2);
        published = memory.asSlice(MIB, MIB).toArray(ValueLayout.JAVA_BYTE);
        assertThat(published).as("not by way of a slot").isEqualTo(pattern(MIB));
    }

    @Test
    void shouldCopySeveralMessagesInAPassAndNoMoreThanASlice() {
        int half = (int) Copier.SLICE_BYTES / 2;
        Queue.Sending sending = sending(pair.client(), 5L * half, 5);
        Queue.Receiving receiving = receiving(pair.server(), 5L * half, 5);
        card.until("told", () -> pair.client().consumers.size() == 1);
        for (int i = 0; i < 5; i++) {
            assertThat(receiving.post((long) i * half, half)).isEqualTo(Status.SUCCESS);
        }
        card.settle();
        int to = pair.client().consumers.getFirst();
        for (int i = 0; i < 5; i++) {
            assertThat(sending.send(to, pattern(half), NOTHING)).isEqualTo(Status.SUCCESS);
        }
        for (int copied : new int[] {2, 4, 5}) {
            card.hostEngine.progress();
            card.dpuEngine.progress();
            assertThat(receiving.statuses).hasSize(copied);
        }
    }

    @Clause("cc-099")
    @Test
    void shouldCallTheCallbackOfAPostReceiveThatFits() {
        Card.Memory memory = card.memory(card.p0, 4096);
        ComchConsumer consumer =
                card.keep(ComchConsumer.create(pair.server().connection, memory.mmap()));
        List<ComchPostReceiveTask> succeeded = new ArrayList<>();
        List<ComchPostReceiveTask> failed = new ArrayList<>();
        List<ComchPostReceiveTask> replaced = new ArrayList<>();
        consumer.setPostReceiveTasks(5, replaced::add, replaced::add);
        consumer.setPostReceiveTasks(2, succeeded::add, failed::add);
        card.dpuEngine.connect(consumer);
        card.atEnd(() -> Peer.stop(card, consumer));
        consumer.start();
        card.until("runs", () -> consumer.state() == ContextState.RUNNING);
        Queue.Sending sending = sending(pair.client(), 4096, 1);
        Buf[] bufs = new Buf[2];
        ComchPostReceiveTask[] tasks = new ComchPostReceiveTask[2];
        for (int i = 0; i < 2; i++) {
            bufs[i] = memory.inventory().bufByAddress(memory.mmap(), i * 64L, 64);
            tasks[i] = consumer.allocatePostReceiveTask(bufs[i]);
            tasks[i].submit();
        }
        sending.send(consumer.id(), pattern(8), NOTHING);
        card.until("received", () -> succeeded.size() + failed.size() == 1);
        consumer.stop(); // no producer has written into the second
        card.until("flushed", () -> succeeded.size() + failed.size() == 2);
        assertThat(succeeded).containsExactly(tasks[0]);
        assertThat(failed).containsExactly(tasks[1]);
        assertThat(replaced).isEmpty();
        for (int i = 0; i < 2; i++) {
            tasks[i].free();
            bufs[i].release();
        }
    }

    @Clause({"cc-113", "cc-123"})
    @Test
    void shouldCallTheCallbackOfASendThatFitsAndLeaveTheBufsOfAFailedOne() {
        Card.Memory memory = card.memory(card.p0, 2 * MIB);
        ComchConsumer consumer =
                card.keep(ComchConsumer.create(pair.server().connection, memory.mmap()));
        List<ComchPostReceiveTask> received = new ArrayList<>();
        consumer.setPostReceiveTasks(2, received::add, received::add);
        card.dpuEngine.connect(consumer);
        card.atEnd(() -> Peer.stop(card, consumer));
        consumer.start();
        card.until("runs", () -> consumer.state() == ContextState.RUNNING);
        Buf small = memory.inventory().bufByAddress(memory.mmap(), MIB, 64);
        Buf large = memory.inventory().bufByAddress(memory.mmap(), 0, MIB);
        large.setData(10, 20);
        consumer.allocatePostReceiveTask(small).submit();
        consumer.allocatePostReceiveTask(large).submit();

        Card.Memory source = card.memory(card.pf0, MIB);
        ComchProducer producer = card.keep(ComchProducer.create(pair.client().connection()));
        List<ComchProducerSendTask> succeeded = new ArrayList<>();
        List<ComchProducerSendTask> failed = new ArrayList<>();
        producer.setSendTasks(2, succeeded::add, failed::add);
        card.hostEngine.connect(producer);
        card.atEnd(() -> Peer.stop(card, producer));
        producer.start();
        card.until("runs", () -> producer.state() == ContextState.RUNNING);
        Buf eight = source.inventory().bufByData(source.mmap(), 0, 8);
        Buf most = source.inventory().bufByData(source.mmap(), 5, MIB - 100);
        ComchProducerSendTask first = producer.allocateSendTask(eight, consumer.id());
        ComchProducerSendTask second = producer.allocateSendTask(most, consumer.id());
        first.submit();
        card.until("sent", () -> succeeded.size() + failed.size() == 1);
        assertThat(succeeded).containsExactly(first);

        second.submit();
        card.hostEngine.progress(); // a slice of it
        memory.mmap().stop();
        card.until("failed", () -> succeeded.size() + failed.size() == 2);
        assertThat(failed).containsExactly(second);
        assertThat(second.status()).isEqualTo(Status.SHUTDOWN);
        assertThat(most.dataOffset()).isEqualTo(5);
        assertThat(most.dataLength()).isEqualTo(MIB - 100);
        card.until("received", () -> received.size() == 2);
        assertThat(received.getLast().status()).isNotEqualTo(Status.SUCCESS);
        assertThat(large.dataOffset()).isEqualTo(10);
        assertThat(large.dataLength()).isEqualTo(20);
        received.forEach(ComchPostReceiveTask::free);
        first.free();
        second.free();
        for (Buf buf : List.of(small, large, eight, most)) {
            buf.release();
        }
    }

    @Clause("cc-022")
    @Test
    void shouldCarryDataInBothDirections() {
        Queue.Receiving onServer = receiving(pair.server(), 4096, 1);
        Queue.Receiving onClient = receiving(pair.client(), 4096, 1);
        Queue.Sending ofServer = sending(pair.server(), 4096, 1);
        Queue.Sending ofClient = sending(pair.client(), 4096, 1);
        assertThat(onServer.consumer.id()).isNotEqualTo(onClient.consumer.id());
        onServer.post(0, 100);
        onClient.post(0, 100);
        assertThat(ofServer.send(onClient.consumer.id(), pattern(80), NOTHING))
                .isEqualTo(Status.SUCCESS);
        assertThat(ofClient.send(onServer.consumer.id(), pattern(70), NOTHING))
                .isEqualTo(Status.SUCCESS);
        card.until("both", () -> onServer.data.size() + onClient.data.size() == 2);
        assertThat(onClient.data.getFirst()).isEqualTo(pattern(80));
        assertThat(onServer.data.getFirst()).isEqualTo(pattern(70));
    }

    @Clause({"cc-103", "cc-107", "cc-117"})
    @ParameterizedTest
    @ValueSource(ints = {30, 3001})
    void shouldSendTheDataSectionAndAppendItBehindWhatIsThere(int length) {
        Queue.Receiving receiving = receiving(pair.server(), 16_384, 1);
        Queue.Sending sending = sending(pair.client(), 16_384, 1);
        MemorySegment target = receiving.memory.shared().segment();
        target.fill((byte) 0x11);
        Buf destination =
                receiving.memory.inventory().bufByAddress(receiving.memory.mmap(), 40, 8192);
        destination.setData(100, 50);
        MemorySegment source = sending.memory.shared().segment();
        source.fill((byte) 0x22);
        source.asSlice(500, length).fill((byte) 0x33);
        Buf data = sending.memory.inventory().bufByAddress(sending.memory.mmap(), 60, 16_000);
        data.setData(500, length);
        for (int times = 1; times <= 2; times++) {
            destination.retain();
            data.retain();
            receiving.post(destination);
            sending.send(receiving.consumer.id(), data, NOTHING);
            int sent = times;
            card.until("received", () -> receiving.statuses.size() == sent);
            card.until("sent", () -> sending.statuses.size() == sent);
            int grown = times * length;
            assertThat(destination.dataOffset()).isEqualTo(100);
            assertThat(destination.dataLength()).isEqualTo(50 + grown);
            assertThat(target.asSlice(0, 150).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x11);
            assertThat(target.asSlice(150, grown).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(0x33);
            assertThat(target.asSlice(150 + grown, 100).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(0x11);
            assertThat(data.dataOffset()).isEqualTo(500);
            assertThat(data.dataLength()).isEqualTo(length);
        }
        destination.release();
        data.release();
    }

    @Test
    void shouldPostAnewInsideTheCallback() {
        Card.Memory memory = card.memory(card.p0, 4096);
        ComchConsumer consumer =
                card.keep(ComchConsumer.create(pair.server().connection, memory.mmap()));
        card.dpuEngine.connect(consumer);
        int[] received = {0};
        consumer.setPostReceiveTasks(
                2,
                task -> {
                    received[0]++;
                    task.buf().resetDataLength();
                    task.submit();
                },
                task -> {
                    task.buf().release();
                    task.free();
                });
        consumer.start();
        card.until("runs", () -> consumer.state() == ContextState.RUNNING);
        for (int i = 0; i < 2; i++) {
            consumer.allocatePostReceiveTask(
                            memory.inventory().bufByAddress(memory.mmap(), i * 64L, 64))
                    .submit();
        }
        Queue.Sending sending = sending(pair.client(), 4096, 2);
        int sent = 0;
        while (sent < 1000) {
            if (sending.send(consumer.id(), pattern(64), NOTHING) == Status.SUCCESS) {
                sent++;
            }
            card.hostEngine.progress();
            card.dpuEngine.progress();
        }
        card.until("all", () -> received[0] == 1000);
        assertThat(sending.statuses).hasSizeGreaterThan(900).containsOnly(Status.SUCCESS);
        Peer.stop(card, consumer);
    }
}
