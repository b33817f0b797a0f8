package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Clause;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Refusals of copies at submission, which change nothing. */
@SoftDpuTest(sanitized = false)
class DmaRefusalTest {
    private static final int SIZE = 64 << 10;

    private DmaFixture fixture;
    private Mmap memory;

    @BeforeEach
    void open(SoftDpu card) {
        fixture = new DmaFixture(card.dpuDevice()).start(4);
        memory = fixture.local(SIZE);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private Status refused(Buf source, Buf destination) {
        Status status = fixture.refused(source, destination);
        assertThat(fixture.engine.progress()).as("nothing is left to be done").isFalse();
        assertThat(fixture.inventory.free())
                .as("no buf is kept")
                .isEqualTo(fixture.inventory.total());
        return status;
    }

    @Test
    void shouldRefuseASourceWithoutData() {
        assertThat(
                        refused(
                                fixture.destination(memory, 0, 64),
                                fixture.destination(memory, 100, 64)))
                .isEqualTo(Status.INVALID_VALUE);
    }

    @Test
    void shouldRefuseADestinationThatIsTooSmallByOneByte() {
        assertThat(refused(fixture.source(memory, 0, 65), fixture.destination(memory, 100, 64)))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(
                        fixture.copy(
                                fixture.source(memory, 0, 64),
                                fixture.destination(memory, 100, 64)))
                .isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRefuseADestinationThatIsFullOfData() {
        assertThat(refused(fixture.source(memory, 0, 1), fixture.source(memory, 100, 64)))
                .isEqualTo(Status.INVALID_VALUE);
    }

    @Test
    @Clause("core-107")
    void shouldRefuseAListOfOneElementTooMany() {
        int most = fixture.dma.capabilities().maxBufferListLength();
        assertThat(refused(list(most + 1, true), fixture.destination(memory, 8000, 1000)))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(refused(fixture.source(memory, 8000, 8), list(most + 1, false)))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(fixture.copy(list(most, true), fixture.destination(memory, 8000, 1000)))
                .isEqualTo(Status.SUCCESS);
        assertThat(fixture.copy(fixture.source(memory, 8000, most), list(most, false)))
                .isEqualTo(Status.SUCCESS);
    }

    private Buf list(int elements, boolean withData) {
        Buf head = element(0, withData);
        for (int i = 1; i < elements; i++) {
            head.chain(element(i, withData));
        }
        return head;
    }

    private Buf element(int i, boolean withData) {
        return withData
                ? fixture.source(memory, i * 8L, 8)
                : fixture.destination(memory, i * 8L, 8);
    }

    @Test
    @Clause("core-071")
    void shouldRefuseToWriteMemoryForReadingOnly() {
        Mmap readOnly = fixture.mmap(4096, AccessFlag.LOCAL_READ_ONLY);
        assertThat(refused(fixture.source(memory, 0, 64), fixture.destination(readOnly, 0, 64)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(
                        fixture.copy(
                                fixture.source(readOnly, 0, 64),
                                fixture.destination(memory, 0, 64)))
                .as("reading it")
                .isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause("core-071")
    void shouldRefuseMemoryThatTheDeviceWasNotAddedTo() {
        Device other = fixture.add(fixture.device.machine().findDevice("p1").open());
        SharedMemory shared = fixture.add(SharedMemory.allocate(4096));
        Mmap strange =
                fixture.add(
                        Mmap.create()
                                .setMemory(shared)
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(other)
                                .start());
        assertThat(refused(fixture.source(strange, 0, 64), fixture.destination(memory, 0, 64)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(refused(fixture.source(memory, 0, 64), fixture.destination(strange, 0, 64)))
                .isEqualTo(Status.NOT_PERMITTED);
    }

    @Test
    void shouldRefuseOneBufAsBoth() {
        Buf buf = fixture.inventory.bufByArgs(memory, 0, 128, 0, 64);
        DmaMemcpyTask task = fixture.dma.allocateMemcpy(buf, buf);
        assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
        task.free();
        Buf twin = fixture.inventory.duplicate(buf);
        assertThat(fixture.copy(buf, twin))
                .as("the same bytes by two bufs")
                .isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause("core-110")
    void shouldRefuseBufsThatAnotherTaskHasAndLeaveThemToIt() {
        Buf source = fixture.source(memory, 0, 64);
        Buf destination = fixture.destination(memory, 100, 128);
        DmaMemcpyTask first = fixture.submit(source, destination);
        Buf free = fixture.destination(memory, 1000, 64);
        DmaMemcpyTask second = fixture.dma.allocateMemcpy(source, free);
        assertThat(second.trySubmit()).isEqualTo(Status.IN_USE);
        second.setSource(free).setDestination(destination);
        free.setData(1000, 64);
        assertThat(second.trySubmit()).isEqualTo(Status.IN_USE);
        throwing(Status.IN_USE, source::release);
        throwing(Status.IN_USE, destination::resetDataLength);
        throwing(Status.IN_USE, () -> source.chain(free));
        free.setData(1000, 0); // the refusals have left it to its user
        assertThat(first.trySubmit()).isEqualTo(Status.IN_USE);
        throwing(Status.IN_USE, first::free);
        throwing(Status.IN_USE, () -> first.setSource(free));
        fixture.awaitEnd();
        assertThat(second.setSource(source).setDestination(destination).trySubmit())
                .isEqualTo(Status.SUCCESS);
        fixture.awaitEnd();
        assertThat(destination.dataLength()).isEqualTo(128);
        first.free();
        second.free();
        free.release();
        source.release();
        destination.release();
    }

    @Test
    void shouldRefuseAnElementBehindTheHeadOfItsList() {
        Buf head = fixture.source(memory, 0, 64);
        Buf behind = fixture.source(memory, 64, 64);
        head.chain(behind);
        Buf destination = fixture.destination(memory, 1000, 256);
        DmaMemcpyTask task = fixture.dma.allocateMemcpy(behind, destination);
        assertThat(task.trySubmit()).isEqualTo(Status.NOT_PERMITTED);
        task.setSource(head);
        task.submit();
        fixture.awaitEnd();
        assertThat(destination.dataLength()).isEqualTo(128);
        task.free();
        head.release();
        destination.release();
    }

    @Test
    void shouldRefuseABufThatWasReleasedAndOneWhoseMmapWasStopped() {
        Buf source = fixture.source(memory, 0, 64);
        Buf destination = fixture.destination(memory, 100, 64);
        DmaMemcpyTask task = fixture.dma.allocateMemcpy(source, destination);
        source.release();
        assertThat(task.trySubmit()).isEqualTo(Status.BAD_STATE);
        Mmap other = fixture.local(4096);
        Buf there = fixture.source(other, 0, 64);
        other.stop();
        assertThat(task.setSource(there).trySubmit()).isEqualTo(Status.BAD_STATE);
        task.free();
        there.release();
        destination.release();
    }

    @Test
    void shouldRefuseMemoryThatTheProgramHasFreed() {
        Mmap gone;
        Buf there;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment segment = arena.allocate(4096);
            gone = fixture.over(segment);
            there = fixture.source(gone, 0, 64);
        }
        assertThat(refused(there, fixture.destination(memory, 0, 64))).isEqualTo(Status.BAD_STATE);
    }

    @Test
    void shouldSayWhatIsWrongWithArguments() {
        Buf buf = fixture.source(memory, 0, 64);
        throwing(Status.INVALID_VALUE, () -> fixture.dma.allocateMemcpy(null, buf));
        throwing(Status.INVALID_VALUE, () -> fixture.dma.allocateMemcpy(buf, null));
        throwing(Status.INVALID_VALUE, () -> fixture.dma.createMemcpyJob(null, buf));
        throwing(Status.INVALID_VALUE, () -> fixture.dma.createMemcpyJob(buf, null));
        throwing(Status.INVALID_VALUE, () -> Dma.create(null));
        throwing(Status.INVALID_VALUE, () -> DmaCapabilities.of(null));
        DmaMemcpyTask task = fixture.dma.allocateMemcpy(buf, buf);
        throwing(Status.INVALID_VALUE, () -> task.setSource(null));
        throwing(Status.INVALID_VALUE, () -> task.setDestination(null));
        assertThat(task.source()).isSameAs(buf);
        task.free();
        throwing(Status.BAD_STATE, task::source);
        throwing(Status.BAD_STATE, () -> task.setDestination(buf));
        assertThat(fixture.dma.state()).isEqualTo(ContextState.RUNNING);
        buf.release();
    }

    private static void throwing(Status status, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status));
    }
}
