package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertNotSubmitted;
import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules for the tasks of producers and consumers, and for the bufs in flight with them. */
class FastPathTaskTest extends FastPathFixture {
    @Clause({"cc-097", "cc-114"})
    @Test
    void shouldRefuseMisuseOfProducerSends() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 2);
        Queue.Sending sending = sending(pair.client(), 4096, 3);
        int id = receiving.consumer.id();
        receiving.post(0, 100);
        Buf buf = sending.memory.inventory().bufByData(sending.memory.mmap(), 0, 100);
        ComchProducerSendTask task = sending.producer.allocateSendTask(buf, id);
        ComchProducerSendTask twin = sending.producer.allocateSendTask(buf, id);
        ComchProducerSendTask third = sending.producer.allocateSendTask(buf, id);
        assertRefused(Status.NO_MEMORY, () -> sending.producer.allocateSendTask(buf, id));
        third.free();
        task.submit();
        assertNotSubmitted(Status.IN_USE, task);
        assertRefused(Status.IN_USE, task::free);
        receiving.post(200, 100);
        assertNotSubmitted(Status.IN_USE, twin); // its buf is in flight
        assertRefused(
                Status.INVALID_VALUE,
                () -> twin.setImmediate(MemorySegment.ofArray(new byte[33]), 0, 33));
        card.until("sent", () -> !sending.statuses.isEmpty());
        assertThat(sending.statuses).containsExactly(Status.SUCCESS);
        assertNotSubmitted(Status.BAD_STATE, task); // freed by its callback
        card.until("received", () -> receiving.statuses.size() == 1);
        sending.producer.stop();
        assertThat(sending.producer.state()).isEqualTo(ContextState.STOPPING);
        assertNotSubmitted(Status.BAD_STATE, twin);
        twin.free();
    }

    @Clause({"cc-100", "cc-114"})
    @Test
    void shouldHaveAsManyTasksAsWereSetLast() {
        Card.Memory memory = card.memory(card.p0, 4096);
        ComchConsumer consumer =
                card.keep(ComchConsumer.create(pair.server().connection, memory.mmap()));
        consumer.setPostReceiveTasks(5, task -> {}, task -> {});
        consumer.setPostReceiveTasks(3, task -> {}, task -> {});
        ComchProducer producer = card.keep(ComchProducer.create(pair.server().connection));
        producer.setSendTasks(5, task -> {}, task -> {});
        producer.setSendTasks(3, task -> {}, task -> {});
        for (Context context : List.of(consumer, producer)) {
            card.dpuEngine.connect(context);
            card.atEnd(() -> Peer.stop(card, context));
            context.start();
            card.until("runs", () -> context.state() == ContextState.RUNNING);
        }
        Buf buf = memory.inventory().bufByAddress(memory.mmap(), 0, 64);
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            tasks.add(consumer.allocatePostReceiveTask(buf));
            tasks.add(producer.allocateSendTask(buf, 1));
        }
        assertRefused(Status.NO_MEMORY, () -> consumer.allocatePostReceiveTask(buf));
        assertRefused(Status.NO_MEMORY, () -> producer.allocateSendTask(buf, 1));
        tasks.forEach(Task::free);
        buf.release();
    }

    @Clause({"cc-123", "cc-126"})
    @ParameterizedTest
    @ValueSource(ints = {10, 64, 100, 300_000})
    void shouldRefuseDataThatIsLongerThanThePostedBuffer(int room) {
        Queue.Receiving receiving = receiving(pair.server(), MIB, 1);
        Queue.Sending sending = sending(pair.client(), MIB, 1);
        int id = receiving.consumer.id();
        Buf posted =
                receiving.memory.inventory().bufByAddress(receiving.memory.mmap(), 0, 400 + room);
        posted.setData(50, 350);
        posted.retain();
        receiving.post(posted);
        Buf tooLong = sending.memory.inventory().bufByData(sending.memory.mmap(), 7, room + 1);
        tooLong.retain();
        assertThat(sending.send(id, tooLong, NOTHING)).isEqualTo(Status.INVALID_VALUE);
        card.settle();
        assertThat(receiving.statuses).isEmpty();
        assertThat(tooLong.dataOffset()).isEqualTo(7);
        assertThat(tooLong.dataLength()).isEqualTo(room + 1);
        assertThat(posted.dataOffset()).isEqualTo(50);
        assertThat(posted.dataLength()).isEqualTo(350);
        assertThat(sending.send(id, pattern(room), NOTHING)).isEqualTo(Status.SUCCESS);
        card.until("received", () -> receiving.statuses.size() == 1);
        assertThat(receiving.data.getFirst()).isEqualTo(pattern(room));
        tooLong.release();
        posted.release();
    }

    @Clause("cc-080")
    @Test
    void shouldSendFromALocalMmapWithoutAnyRightOverPcie() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 2);
        Queue.Sending sending = sending(pair.client(), 4096, 2);
        receiving.post(0, 100);
        Mmap local = card.keep(Mmap.create());
        local.setMemory(MemorySegment.ofArray(new byte[64]))
                .setPermissions(Permissions.LOCAL_READ_WRITE)
                .addDevice(card.pf0)
                .start();
        assertThat(
                        sending.send(
                                receiving.consumer.id(),
                                sending.memory.inventory().bufByData(local, 0, 64),
                                NOTHING))
                .isEqualTo(Status.SUCCESS);
        card.until("received", () -> receiving.statuses.size() == 1);
    }

    @Test
    void shouldNotSendFromImportedMemory() {
        Mmap imported =
                card.keep(
                        Mmap.createFromExport(
                                card.memory(card.pf0, 4096).mmap().exportPci(card.pf0), card.p0));
        Queue.Sending back = sending(pair.server(), 4096, 1);
        Queue.Receiving onClient = receiving(pair.client(), 4096, 1);
        onClient.post(0, 100);
        assertThat(
                        back.send(
                                onClient.consumer.id(),
                                back.memory.inventory().bufByData(imported, 0, 64),
                                NOTHING))
                .isEqualTo(Status.INVALID_VALUE);
    }

    @Clause("cc-125")
    @Test
    void shouldKeepTheSourceOfASendFromItsOwnerUntilItsCompletion() {
        Queue.Receiving receiving = receiving(pair.server(), 3 * MIB, 3);
        Queue.Sending sending = sending(pair.client(), 4096, 1);
        List<SanitizerReport.Kind> reports = new ArrayList<>();
        List<SanitizerReport> changes = new ArrayList<>();
        try (Sanitizer sanitizer = Sanitizer.start(1)) {
            sanitizer.setListener(report -> {
                reports.add(report.kind());
                changes.add(report);
            });
            Card.Memory source = card.memory(card.pf0, MIB); // bufs that the sanitizer checks
            int sent = 0;
            for (long changed : new long[] {-1, 0, MIB - 1}) {
                receiving.post((long) sent * MIB, MIB);
                Buf buf = sourceUnderTheSanitizer(source);
                buf.retain();
                assertThat(sending.send(receiving.consumer.id(), buf, NOTHING))
                        .isEqualTo(Status.SUCCESS);
                card.hostEngine.progress(); // a slice of it
                if (changed >= 0) {
                    source.shared().segment().set(ValueLayout.JAVA_BYTE, changed, (byte) 1);
                    assertRefused(Status.IN_USE, buf::resetDataLength);
                    assertRefused(Status.IN_USE, () -> buf.setData(0, 8));
                }
                int expected = ++sent;
                card.until("sent", () -> sending.statuses.size() == expected);
                if (changed < 0) {
                    assertThat(reports).as("left alone").isEmpty();
                } else {
                    assertThat(reports)
                            .containsExactly(
                                    SanitizerReport.Kind.BUF_MISUSED,
                                    SanitizerReport.Kind.BUF_MISUSED,
                                    SanitizerReport.Kind.SOURCE_CHANGED);
                    assertThat(changes.getLast().message())
                            .contains("source of a task was changed in flight");
                    assertThat(changes.getLast().allocatedAt()).isNotNull();
                    assertThat(changes.getLast().allocatedAt().getStackTrace())
                            .as("where the buf was allocated")
                            .anyMatch(frame ->
                                    frame.getClassName().equals(FastPathTaskTest.class.getName())
                                            && frame.getMethodName()
                                                    .equals("sourceUnderTheSanitizer"));
                }
                reports.clear();
                buf.setData(0, 8);
                buf.release();
            }
        }
    }

    private static Buf sourceUnderTheSanitizer(Card.Memory source) {
        return source.inventory().bufByData(source.mmap(), 0, MIB);
    }

    @Clause("cc-125")
    @Test
    void shouldKeepTheSourceOfASmallSendFromItsOwnerUntilItsCompletion() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 1);
        Queue.Sending sending = sending(pair.client(), 4096, 1);
        receiving.post(0, 64);
        Buf buf = sending.memory.inventory().bufByData(sending.memory.mmap(), 0, 64);
        buf.retain();
        assertThat(sending.send(receiving.consumer.id(), buf, NOTHING)).isEqualTo(Status.SUCCESS);
        assertRefused(Status.IN_USE, () -> buf.setData(0, 8));
        assertRefused(Status.IN_USE, buf::resetDataLength);
        card.until("sent", () -> !sending.statuses.isEmpty());
        buf.setData(0, 8);
        buf.release();
    }

    @Clause({"cc-097", "cc-100"})
    @Test
    void shouldRefuseMisuseOfPostReceives() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 3);
        Buf buf = receiving.memory.inventory().bufByAddress(receiving.memory.mmap(), 0, 64);
        ComchPostReceiveTask task = receiving.consumer.allocatePostReceiveTask(buf);
        ComchPostReceiveTask twin = receiving.consumer.allocatePostReceiveTask(buf);
        ComchPostReceiveTask third = receiving.consumer.allocatePostReceiveTask(buf);
        assertRefused(Status.NO_MEMORY, () -> receiving.consumer.allocatePostReceiveTask(buf));
        third.free();
        task.submit();
        assertNotSubmitted(Status.IN_USE, twin);
        assertNotSubmitted(Status.IN_USE, task);
        assertRefused(Status.IN_USE, task::free);
        assertThat(receiving.statuses).isEmpty();
        receiving.consumer.stop();
        assertThat(receiving.consumer.state()).isEqualTo(ContextState.STOPPING);
        assertNotSubmitted(Status.BAD_STATE, twin);
        twin.free();
        assertNotSubmitted(Status.BAD_STATE, twin);
    }

    @Clause({"cc-081", "cc-104"})
    @Test
    void shouldRefuseToPostMemoryThatIsNotExportedToThePeerForWriting() {
        Queue.Receiving onServer = receiving(pair.server(), 4096, 2);
        Queue.Receiving onClient = receiving(pair.client(), 4096, 2);
        Queue.Sending toServer = sending(pair.client(), 4096, 1);
        Queue.Sending toClient = sending(pair.server(), 4096, 1);
        for (Permissions lacking :
                new Permissions[] {
                    Permissions.LOCAL_READ_WRITE,
                    Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_ONLY),
                    Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_WRITE)
                }) {
            assertNotPosted(onServer, card.memory(card.p0, 4096, lacking).mmap());
            assertNotPosted(onClient, card.memory(card.pf0, 4096, lacking).mmap());
        }
        assertNotPosted(
                onServer,
                card.keep(
                        Mmap.createFromExport(
                                card.memory(card.pf0, 4096).mmap().exportPci(card.pf0), card.p0)));
        assertThat(toServer.send(onServer.consumer.id(), pattern(1), NOTHING))
                .as("nothing is posted")
                .isEqualTo(Status.AGAIN);
        assertThat(toClient.send(onClient.consumer.id(), pattern(1), NOTHING))
                .isEqualTo(Status.AGAIN);
    }

    private static void assertNotPosted(Queue.Receiving receiving, Mmap other) {
        Buf foreign = receiving.memory.inventory().bufByAddress(other, 0, 64);
        assertThat(receiving.post(foreign)).isEqualTo(Status.INVALID_VALUE);
        foreign.release();
    }

    @Clause({"cc-108", "cc-110"})
    @Test
    void shouldPublishNothingOfAPostThatFailed() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 2);
        Queue.Sending sending = sending(pair.client(), 4096, 1);
        Buf full = receiving.memory.inventory().bufByData(receiving.memory.mmap(), 0, 64);
        assertThat(receiving.post(full)).isEqualTo(Status.INVALID_VALUE);
        full.resetDataLength(); // not in flight
        full.release();
        Card.Memory to = receiving.memory;
        Buf head = to.inventory().bufByAddress(to.mmap(), 0, 64);
        Buf behind = to.inventory().bufByAddress(to.mmap(), 64, 64);
        head.chain(behind);
        assertThat(receiving.post(head)).isEqualTo(Status.INVALID_VALUE);
        assertThat(receiving.post(behind)).isEqualTo(Status.NOT_PERMITTED);
        head.release();
        assertThat(sending.send(receiving.consumer.id(), pattern(1), NOTHING))
                .isEqualTo(Status.AGAIN);
        card.settle();
        assertThat(receiving.statuses).isEmpty();
        assertThat(receiving.memory.shared().segment().get(ValueLayout.JAVA_BYTE, 0)).isZero();
    }

    @Clause("cc-111")
    @Test
    void shouldKeepAPostedBufferFromItsOwnerUntilItsCompletion() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 2);
        Queue.Sending sending = sending(pair.client(), 4096, 1);
        List<SanitizerReport.Kind> reports = new ArrayList<>();
        try (Sanitizer sanitizer = Sanitizer.start(1)) {
            sanitizer.setListener(report -> reports.add(report.kind()));
            BufInventory inventory = card.keep(BufInventory.create(1)); // checked by the sanitizer
            inventory.start();
            MemorySegment memory = receiving.memory.shared().segment();
            memory.fill((byte) 1);
            Buf buf = inventory.bufByAddress(receiving.memory.mmap(), 0, 64);
            assertThat(receiving.post(buf)).isEqualTo(Status.SUCCESS);
            assertThat(memory.asSlice(0, 64).toArray(ValueLayout.JAVA_BYTE))
                    .as("an early read sees the fill pattern")
                    .containsOnly(0xa5);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 64)).isEqualTo((byte) 1);
            assertRefused(Status.IN_USE, buf::resetDataLength);
            assertRefused(Status.IN_USE, () -> buf.setData(8, 8));
            assertRefused(Status.IN_USE, buf::release);
            assertThat(reports).containsOnly(SanitizerReport.Kind.BUF_MISUSED).hasSize(3);
            buf.retain();
            assertThat(sending.send(receiving.consumer.id(), pattern(64), NOTHING))
                    .isEqualTo(Status.SUCCESS);
            card.until("received", () -> !receiving.statuses.isEmpty());
            assertThat(memory.asSlice(0, 64).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(pattern(64));
            buf.setData(8, 8);
            buf.release();
            assertThat(reports).hasSize(3);
        }
    }

    @Clause({"cc-082", "core-107"})
    @Test
    void shouldRefuseListsOfBufsAsItsCapabilitiesSay() {
        ComchCapabilities capabilities = ComchCapabilities.of(card.p0.info());
        assertThat(capabilities.maxBufferListLength()).isEqualTo(1);
        Queue.Receiving receiving = receiving(pair.server(), 4096, 2);
        Queue.Sending sending = sending(pair.client(), 4096, 2);
        Card.Memory to = receiving.memory;
        Buf room = to.inventory().bufByAddress(to.mmap(), 0, 64);
        Buf behind = to.inventory().bufByAddress(to.mmap(), 64, 64);
        room.chain(behind);
        ComchPostReceiveTask post = receiving.consumer.allocatePostReceiveTask(room);
        assertThat(post.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        assertRefused(Status.INVALID_VALUE, post::submit)
                .hasMessageContainingAll("listLength=2", "expected=1 at most, operand=destination");
        assertUnchanged(room, behind, 0, 0);
        post.setBuf(behind);
        assertThat(post.trySubmit()).isEqualTo(Status.NOT_PERMITTED);
        room.unchain(behind);
        post.submit();

        Card.Memory from = sending.memory;
        Buf data = from.inventory().bufByData(from.mmap(), 0, 8);
        Buf more = from.inventory().bufByData(from.mmap(), 64, 8);
        data.chain(more);
        ComchProducerSendTask send =
                sending.producer.allocateSendTask(data, receiving.consumer.id());
        card.settle();
        assertThat(send.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        assertRefused(Status.INVALID_VALUE, send::submit)
                .hasMessageContainingAll("listLength=2", "expected=1 at most, operand=source");
        assertUnchanged(data, more, 0, 8);
        Buf single = from.inventory().bufByData(from.mmap(), 128, 8);
        ComchProducerSendTask behindIt =
                sending.producer.allocateSendTask(single, receiving.consumer.id());
        assertThat(sending.producer.trySubmitAll(new Task[] {send, behindIt}, 0, 2)).isZero();
        assertThat(send.refusal())
                .hasMessageContainingAll("listLength=2", "expected=1 at most, operand=source");
        assertUnchanged(data, more, 0, 8);
        behindIt.free();
        single.release();
        data.unchain(more); // nothing has it in flight
        more.release();
        send.submit();
        card.until("received", () -> !receiving.statuses.isEmpty());
        card.until("sent", () -> !sending.statuses.isEmpty());
        assertThat(receiving.data.getFirst()).hasSize(8);
        room.release();
    }

    /** A list of two bufs is as it was made, and no task has either of them. */
    private static void assertUnchanged(Buf head, Buf behind, long offset, long length) {
        assertThat(head.nextInList()).isSameAs(behind);
        assertThat(head.dataOffset()).isEqualTo(offset);
        assertThat(head.dataLength()).isEqualTo(length);
        assertThat(behind.dataOffset()).isEqualTo(offset + 64);
        assertThat(behind.dataLength()).isEqualTo(length);
        for (Buf buf : new Buf[] {head, behind}) {
            assertThat(buf.references()).isEqualTo(1);
            buf.setData(buf.dataOffset(), length); // IN_USE if it were in flight
        }
    }
}
