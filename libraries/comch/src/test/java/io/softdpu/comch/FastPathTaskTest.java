package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
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

/** Rules for the tasks of producers and consumers, and for the bufs in flight with them. */
class FastPathTaskTest extends FastPathFixture {
    @Clause({"cc-097", "cc-114"})
    @Test
    void shouldRefuseMisuseOfProducerSends() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 2);
        Queue.Sending sending = sending(pair.client(), 4096, 2);
        int id = receiving.consumer.id();
        receiving.post(0, 100);
        Buf buf = sending.memory.inventory().bufByData(sending.memory.mmap(), 0, 100);
        ComchProducerSendTask task = sending.producer.allocateSendTask(buf, id);
        ComchProducerSendTask twin = sending.producer.allocateSendTask(buf, id);
        assertRefused(Status.NO_MEMORY, () -> sending.producer.allocateSendTask(buf, id));
        task.submit();
        assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
        receiving.post(200, 100);
        assertThat(twin.trySubmit()).isEqualTo(Status.IN_USE); // its buf is in flight
        assertRefused(
                Status.INVALID_VALUE,
                () -> twin.setImmediate(MemorySegment.ofArray(new byte[33]), 0, 33));
        card.until("sent", () -> !sending.statuses.isEmpty());
        twin.free();
        assertThat(sending.statuses).containsExactly(Status.SUCCESS);
        assertThat(task.trySubmit()).isEqualTo(Status.BAD_STATE); // freed by its callback
        card.until("received", () -> receiving.statuses.size() == 1);
    }

    @Clause("cc-126")
    @Test
    void shouldRefuseDataThatIsLongerThanThePostedBuffer() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 2);
        Queue.Sending sending = sending(pair.client(), 4096, 2);
        int id = receiving.consumer.id();
        receiving.post(0, 100);
        assertThat(sending.send(id, pattern(101), NOTHING)).isEqualTo(Status.INVALID_VALUE);
        assertThat(sending.send(id, pattern(100), NOTHING)).isEqualTo(Status.SUCCESS);
        card.until("received", () -> receiving.statuses.size() == 1);
        assertThat(receiving.data.getFirst()).isEqualTo(pattern(100));
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
        Queue.Receiving receiving = receiving(pair.server(), 2 * MIB, 2);
        Queue.Sending sending = sending(pair.client(), 4096, 2);
        receiving.post(0, MIB);
        receiving.post(MIB, MIB);
        List<SanitizerReport.Kind> reports = new ArrayList<>();
        try (Sanitizer sanitizer = Sanitizer.start(1)) {
            sanitizer.setListener(report -> reports.add(report.kind()));
            Card.Memory source = card.memory(card.pf0, MIB); // bufs that the sanitizer checks
            for (int round = 0; round < 2; round++) {
                Buf buf = source.inventory().bufByData(source.mmap(), 0, MIB);
                assertThat(sending.send(receiving.consumer.id(), buf, NOTHING))
                        .isEqualTo(Status.SUCCESS);
                card.hostEngine.progress(); // a slice of it
                if (round == 1) {
                    source.shared().segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
                    assertRefused(Status.IN_USE, buf::resetDataLength);
                }
                int sent = round + 1;
                card.until("sent", () -> sending.statuses.size() == sent);
                if (round == 0) {
                    assertThat(reports).as("left alone").isEmpty();
                }
            }
            assertThat(reports).contains(SanitizerReport.Kind.SOURCE_CHANGED);
        }
    }

    @Clause({"cc-097", "cc-100"})
    @Test
    void shouldRefuseMisuseOfPostReceives() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 2);
        Buf buf = receiving.memory.inventory().bufByAddress(receiving.memory.mmap(), 0, 64);
        ComchPostReceiveTask task = receiving.consumer.allocatePostReceiveTask(buf);
        ComchPostReceiveTask twin = receiving.consumer.allocatePostReceiveTask(buf);
        assertRefused(Status.NO_MEMORY, () -> receiving.consumer.allocatePostReceiveTask(buf));
        task.submit();
        assertThat(twin.trySubmit()).isEqualTo(Status.IN_USE);
        assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
        assertRefused(Status.IN_USE, task::free);
        twin.free();
        assertThat(receiving.statuses).isEmpty();
    }

    @Clause({"cc-081", "cc-104"})
    @Test
    void shouldRefuseToPostMemoryThatIsNotExportedToThePeerForWriting() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 2);
        Queue.Sending sending = sending(pair.client(), 4096, 1);
        for (Permissions lacking :
                new Permissions[] {
                    Permissions.LOCAL_READ_WRITE,
                    Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_ONLY)
                }) {
            Card.Memory other = card.memory(card.p0, 4096, lacking);
            Buf foreign = other.inventory().bufByAddress(other.mmap(), 0, 64);
            assertThat(receiving.post(foreign)).isEqualTo(Status.INVALID_VALUE);
            foreign.release();
        }
        Mmap imported =
                card.keep(
                        Mmap.createFromExport(
                                card.memory(card.pf0, 4096).mmap().exportPci(card.pf0), card.p0));
        Buf remote = receiving.memory.inventory().bufByAddress(imported, 0, 64);
        assertThat(receiving.post(remote)).isEqualTo(Status.INVALID_VALUE);
        remote.release();
        assertThat(sending.send(receiving.consumer.id(), pattern(1), NOTHING))
                .as("nothing is posted")
                .isEqualTo(Status.AGAIN);
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
        List<SanitizerReport.Kind> reports = new ArrayList<>();
        try (Sanitizer sanitizer = Sanitizer.start(1)) {
            sanitizer.setListener(report -> reports.add(report.kind()));
            BufInventory inventory = card.keep(BufInventory.create(1)); // checked by the sanitizer
            inventory.start();
            MemorySegment memory = receiving.memory.shared().segment();
            memory.fill((byte) 1);
            Buf buf = inventory.bufByAddress(receiving.memory.mmap(), 0, 64);
            assertThat(receiving.post(buf)).isEqualTo(Status.SUCCESS);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 0))
                    .as("an early read sees the fill pattern")
                    .isEqualTo((byte) 0xa5);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 64)).isEqualTo((byte) 1);
            assertRefused(Status.IN_USE, buf::resetDataLength);
            assertRefused(Status.IN_USE, buf::release);
            assertThat(reports).containsOnly(SanitizerReport.Kind.BUF_MISUSED).hasSize(2);
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
                .hasMessageContainingAll("listLength=2", "maxListLength=1", "destination=buf[");
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
                .hasMessageContainingAll("listLength=2", "maxListLength=1", "source=buf[");
        data.unchain(more); // nothing has it in flight
        more.release();
        send.submit();
        card.until("received", () -> !receiving.statuses.isEmpty());
        card.until("sent", () -> !sending.statuses.isEmpty());
        assertThat(receiving.data.getFirst()).hasSize(8);
        room.release();
    }
}
