package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.Clause;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a copy is refused for: at submission, with everything left as it was. */
class DmaRefusalTest {
    private static final int SIZE = 64 << 10;

    @TempDir Path folder;
    private Desk desk;
    private Mmap memory;

    @BeforeEach
    void open() {
        desk = new Desk(folder, Side.DPU, "p0").start(4);
        memory = desk.local(SIZE);
    }

    @AfterEach
    void close() throws Exception {
        desk.close();
    }

    private Status refused(Buf source, Buf destination) {
        Status status = desk.refused(source, destination);
        assertThat(desk.engine.progress()).as("nothing is left to be done").isFalse();
        assertThat(desk.inventory.free()).as("no buf is kept").isEqualTo(desk.inventory.total());
        return status;
    }

    @Test
    void shouldRefuseASourceWithoutData() {
        assertThat(refused(desk.destination(memory, 0, 64), desk.destination(memory, 100, 64)))
                .isEqualTo(Status.INVALID_VALUE);
    }

    @Test
    void shouldRefuseADestinationThatIsTooSmallByOneByte() {
        assertThat(refused(desk.source(memory, 0, 65), desk.destination(memory, 100, 64)))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(desk.copy(desk.source(memory, 0, 64), desk.destination(memory, 100, 64)))
                .isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldSayInTheRefusalWhatTheTaskWasGiven() {
        Buf source = desk.source(memory, 0, 65);
        Buf destination = desk.destination(memory, 100, 64);
        DmaMemcpyTask task = desk.dma.allocateMemcpy(source, destination);
        assertThatThrownBy(task::submit)
                .hasMessageContainingAll("source=buf[", "dataLength=65", "destination=buf[")
                .hasMessageContaining("maxListLength=64");
        task.free();
        source.release();
        destination.release();
    }

    @Test
    void shouldRefuseADestinationThatIsFullOfData() {
        assertThat(refused(desk.source(memory, 0, 1), desk.source(memory, 100, 64)))
                .isEqualTo(Status.INVALID_VALUE);
    }

    @Test
    @Clause("core-107")
    void shouldRefuseAListOfOneElementTooMany() {
        int most = desk.dma.capabilities().maxBufferListLength();
        assertThat(refused(list(most + 1, true), desk.destination(memory, 8000, 1000)))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(refused(desk.source(memory, 8000, 8), list(most + 1, false)))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(desk.copy(list(most, true), desk.destination(memory, 8000, 1000)))
                .isEqualTo(Status.SUCCESS);
        assertThat(desk.copy(desk.source(memory, 8000, most), list(most, false)))
                .isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause("core-107")
    void shouldNameTheListAndTheLimitWhereItIsTooLong() {
        int most = desk.dma.capabilities().maxBufferListLength();
        Buf source = list(most + 1, true);
        Buf destination = desk.destination(memory, 8000, 1000);
        DmaMemcpyTask task = desk.dma.allocateMemcpy(source, destination);
        assertThatThrownBy(task::submit)
                .hasMessageContainingAll(
                        "source=buf[",
                        "listLength=" + (most + 1) + "], maxListLength=" + most,
                        "destination=buf[",
                        "listLength=1], maxListLength=" + most);
        task.free();
        source.release();
        destination.release();
    }

    private Buf list(int elements, boolean withData) {
        Buf head = element(0, withData);
        for (int i = 1; i < elements; i++) {
            head.chain(element(i, withData));
        }
        return head;
    }

    private Buf element(int i, boolean withData) {
        return withData ? desk.source(memory, i * 8L, 8) : desk.destination(memory, i * 8L, 8);
    }

    @Test
    void shouldRefuseToWriteMemoryForReadingOnly() {
        Mmap readOnly = desk.mmap(4096, AccessFlag.LOCAL_READ_ONLY);
        assertThat(refused(desk.source(memory, 0, 64), desk.destination(readOnly, 0, 64)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(desk.copy(desk.source(readOnly, 0, 64), desk.destination(memory, 0, 64)))
                .as("reading it")
                .isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRefuseMemoryThatTheDeviceWasNotAddedTo() {
        Device other = desk.add(desk.machine.findDevice("p1").open());
        SharedMemory shared = desk.add(SharedMemory.allocate(4096));
        Mmap strange =
                desk.add(
                        Mmap.create()
                                .setMemory(shared)
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(other)
                                .start());
        assertThat(refused(desk.source(strange, 0, 64), desk.destination(memory, 0, 64)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(refused(desk.source(memory, 0, 64), desk.destination(strange, 0, 64)))
                .isEqualTo(Status.NOT_PERMITTED);
    }

    @Test
    void shouldRefuseOneBufAsBoth() {
        Buf buf = desk.inventory.bufByArgs(memory, 0, 128, 0, 64);
        DmaMemcpyTask task = desk.dma.allocateMemcpy(buf, buf);
        assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
        task.free();
        Buf twin = desk.inventory.duplicate(buf);
        assertThat(desk.copy(buf, twin)).as("the same bytes by two bufs").isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause({"core-110", "core-097"})
    void shouldRefuseBufsThatAnotherTaskHasAndLeaveThemToIt() {
        Buf source = desk.source(memory, 0, 64);
        Buf destination = desk.destination(memory, 100, 128);
        DmaMemcpyTask first = desk.submit(source, destination);
        Buf free = desk.destination(memory, 1000, 64);
        DmaMemcpyTask second = desk.dma.allocateMemcpy(source, free);
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
        desk.awaitEnd();
        assertThat(second.setSource(source).setDestination(destination).trySubmit())
                .isEqualTo(Status.SUCCESS);
        desk.awaitEnd();
        assertThat(destination.dataLength()).isEqualTo(128);
        first.free();
        second.free();
        free.release();
        source.release();
        destination.release();
    }

    @Test
    void shouldRefuseAnElementBehindTheHeadOfItsList() {
        Buf head = desk.source(memory, 0, 64);
        Buf behind = desk.source(memory, 64, 64);
        head.chain(behind);
        Buf destination = desk.destination(memory, 1000, 256);
        DmaMemcpyTask task = desk.dma.allocateMemcpy(behind, destination);
        assertThat(task.trySubmit()).isEqualTo(Status.NOT_PERMITTED);
        task.setSource(head);
        task.submit();
        desk.awaitEnd();
        assertThat(destination.dataLength()).isEqualTo(128);
        task.free();
        head.release();
        destination.release();
    }

    @Test
    void shouldRefuseABufThatWasReleasedAndOneWhoseMmapWasStopped() {
        Buf source = desk.source(memory, 0, 64);
        Buf destination = desk.destination(memory, 100, 64);
        DmaMemcpyTask task = desk.dma.allocateMemcpy(source, destination);
        source.release();
        assertThat(task.trySubmit()).isEqualTo(Status.BAD_STATE);
        Mmap other = desk.local(4096);
        Buf there = desk.source(other, 0, 64);
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
            gone = desk.over(segment);
            there = desk.source(gone, 0, 64);
        }
        assertThat(refused(there, desk.destination(memory, 0, 64))).isEqualTo(Status.BAD_STATE);
    }

    @Test
    void shouldSayWhatIsWrongWithArguments() {
        Buf buf = desk.source(memory, 0, 64);
        throwing(Status.INVALID_VALUE, () -> desk.dma.allocateMemcpy(null, buf));
        throwing(Status.INVALID_VALUE, () -> desk.dma.allocateMemcpy(buf, null));
        throwing(Status.INVALID_VALUE, () -> desk.dma.createMemcpyJob(null, buf));
        throwing(Status.INVALID_VALUE, () -> desk.dma.createMemcpyJob(buf, null));
        throwing(Status.INVALID_VALUE, () -> Dma.create(null));
        throwing(Status.INVALID_VALUE, () -> DmaCapabilities.of(null));
        DmaMemcpyTask task = desk.dma.allocateMemcpy(buf, buf);
        throwing(Status.INVALID_VALUE, () -> task.setSource(null));
        throwing(Status.INVALID_VALUE, () -> task.setDestination(null));
        assertThat(task.source()).isSameAs(buf);
        task.free();
        throwing(Status.BAD_STATE, task::source);
        throwing(Status.BAD_STATE, () -> task.setDestination(buf));
        assertThat(desk.dma.state()).isEqualTo(ContextState.RUNNING);
        buf.release();
    }

    private static void throwing(Status status, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status));
    }
}
