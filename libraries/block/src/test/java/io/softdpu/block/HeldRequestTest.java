package io.softdpu.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.spi.ExtentList;
import io.softdpu.block.spi.MemoryUser;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests that the device holds: their memory, their results, and a stop meanwhile. */
@SoftDpuTest(sanitized = false)
class HeldRequestTest {
    private static final int BLOCK = HandDevice.BLOCK_BYTES;

    private HandFixture fixture;

    @BeforeEach
    void open(SoftDpu card) {
        fixture = new HandFixture(card.dpuDevice(), BlockFeature.FLUSH, BlockFeature.EXTENTS);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    @Test
    void shouldBeStoppingUntilTheLastRequestHasLeftTheDevice() {
        Buf buf = fixture.room(BLOCK);
        BlockReadTask task = fixture.one.allocateRead(0, BLOCK, buf);
        task.submit();
        fixture.one.stop();
        for (int i = 0; i < 10; i++) {
            fixture.engine.progress();
        }

        assertThat(fixture.one.state()).isEqualTo(ContextState.STOPPING);
        assertThat(task.status()).isEqualTo(Status.IN_PROGRESS);
        assertThatThrownBy(buf::release).isInstanceOf(DpuException.class);
        assertThat(fixture.hand.channels.getFirst().isClosed).isFalse();
        refused(fixture.blockDevice::close, Status.IN_USE, fixture.one.toString());
        assertThat(fixture.two.state()).as("not stopped with it").isEqualTo(ContextState.RUNNING);

        assertThat(fixture.end(0, task, Status.SUCCESS)).isEqualTo(Status.SUCCESS);
        assertThat(buf.dataLength()).isEqualTo(BLOCK);
        task.free();
        buf.release();
        fixture.engine.progress();
        assertThat(fixture.one.state()).isEqualTo(ContextState.IDLE);
        assertThat(fixture.hand.channels.getFirst().isClosed).isTrue();
    }

    /** Whoever closes the device at that moment would close it under the channel. */
    @Test
    void shouldKeepTheDeviceOpenUntilTheChannelIsClosed() {
        fixture.two.stop();
        boolean[] refused = {false};
        fixture.hand.channels.getFirst().atClose =
                () -> {
                    refused(fixture.blockDevice::close, Status.IN_USE, fixture.one.toString());
                    refused[0] = true;
                };
        fixture.one.stop();

        assertThat(fixture.one.state()).isEqualTo(ContextState.IDLE);
        assertThat(refused[0]).isTrue();
    }

    @Test
    void shouldTellNumberAndAgeOfWhatACloseWaitsFor() {
        Buf buf = fixture.room(BLOCK);
        BlockReadTask task = fixture.one.allocateRead(0, BLOCK, buf);
        task.submit();

        // An interrupt shortens the time that a close waits.
        Thread.currentThread().interrupt();
        try {
            refused(
                    fixture.one::close,
                    Status.IN_USE,
                    fixture.one.toString(),
                    "awaited=end of requests in the device",
                    "requests=1",
                    "stoppingMillis=");
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(fixture.end(0, task, Status.IO_FAILED)).isEqualTo(Status.IO_FAILED);
        task.free();
        buf.release();
        fixture.one.close();
        assertThat(fixture.one.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    void shouldMakeNoDataOfTheBytesOfAFailedRead() {
        Buf buf = fixture.room(BLOCK);
        BlockReadTask task = fixture.one.allocateRead(0, BLOCK, buf);
        task.submit();

        assertThat(fixture.end(0, task, Status.IO_FAILED)).isEqualTo(Status.IO_FAILED);
        assertThat(buf.dataLength()).isZero();
        assertThat(fixture.one.state()).isEqualTo(ContextState.RUNNING);
        assertThat(fixture.one.failure()).isNull();
        task.free();
        buf.release();
    }

    @Test
    void shouldReturnTheBufOfARequestThatTheDeviceRefuses() {
        fixture.hand.refusal = Refusal.ready(Status.AGAIN, () -> "no room: requests=0");
        Buf buf = fixture.room(BLOCK);
        BlockReadTask task = fixture.one.allocateRead(0, BLOCK, buf);

        assertThat(task.trySubmit()).isEqualTo(Status.AGAIN);
        assertThat(Objects.requireNonNull(task.refusal()).getMessage()).contains("no room");
        assertThat(fixture.one.inFlightTasks()).isZero();
        buf.setDataLength(0); // it is the user's
        fixture.hand.refusal = null;
        task.submit();
        assertThat(fixture.end(0, task, Status.SUCCESS)).isEqualTo(Status.SUCCESS);
        task.free();
        buf.release();
    }

    @Test
    void shouldHaveNoExtentsUnlessTheTaskHasSucceeded() {
        BlockExtentsTask task = fixture.one.allocateExtents(0, 4L * BLOCK);
        task.submit();
        ExtentList extents =
                Objects.requireNonNull(fixture.hand.channels.getFirst().held.getFirst().extents);
        assertThat(extents.add(BLOCK, true)).isTrue();
        assertThat(task.extentCount()).as("in flight").isZero();
        assertThat(fixture.end(0, task, Status.IO_FAILED)).isEqualTo(Status.IO_FAILED);
        assertThat(task.extentCount()).isZero();

        task.submit();
        assertThat(extents.add(BLOCK, true)).isTrue();
        assertThat(extents.add(BLOCK, true)).isTrue();
        assertThat(extents.add(BLOCK, false)).isTrue();
        assertThat(fixture.end(0, task, Status.SUCCESS)).isEqualTo(Status.SUCCESS);
        assertThat(task.extentCount()).isEqualTo(2);
        assertThat(task.extentLengthBytes(0)).isEqualTo(2L * BLOCK);
        assertThat(task.isHole(0)).isTrue();
        assertThat(task.isHole(1)).isFalse();
        refused(() -> task.isHole(2), Status.INVALID_VALUE, "index=2");
        refused(() -> task.extentLengthBytes(-1), Status.INVALID_VALUE, "index=-1");
        task.free();
    }

    @Test
    void shouldRefuseFuaOnADeviceWithoutIt() {
        Buf buf = fixture.data(BLOCK);
        BlockWriteTask task = fixture.one.allocateWrite(0, buf);

        refused(() -> task.setFua(true), Status.NOT_SUPPORTED, "feature=FUA");
        task.setFua(false);
        task.free();
        buf.release();
    }

    @Test
    void shouldCloseTheDeviceOfTheProviderOnce(SoftDpu card) {
        HandDevice hand = new HandDevice(BlockFeature.READ_ONLY);
        BlockDevice device = new BlockDevice(hand);
        device.attach(card.dpuDevice());
        BlockContext context = device.createContext();
        refused(
                () -> context.setWriteTasks(1, _ -> {}, _ -> {}),
                Status.NOT_PERMITTED,
                "read-only",
                device.toString());
        device.close();
        assertThat(hand.closed).isTrue();
        hand.closed = false;
        device.close();
        assertThat(hand.closed).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "ENGINE, SUCCESS, SUCCESS, SUCCESS",
        "THREADS, SUCCESS, NOT_SUPPORTED, SUCCESS",
        "KERNEL, NOT_SUPPORTED, NOT_SUPPORTED, NOT_SUPPORTED"
    })
    void shouldRefuseMemoryThatItsUserCannotReach(
            MemoryUser user, Status heap, Status confined, Status closable) {
        fixture.hand.memoryUser = user;
        BlockContext context = fixture.start();
        Buf shared = fixture.room(BLOCK);
        assertThat(submitted(context, shared)).isEqualTo(Status.SUCCESS);
        shared.release();
        Buf onHeap = fixture.roomIn(MemorySegment.ofArray(new byte[BLOCK]));
        assertThat(submitted(context, onHeap)).isEqualTo(heap);
        onHeap.release();
        Buf ofThread = fixture.roomIn(fixture.add(Arena.ofConfined()).allocate(BLOCK));
        assertThat(submitted(context, ofThread)).isEqualTo(confined);
        ofThread.release();
        Buf ofArena = fixture.roomIn(fixture.add(Arena.ofShared()).allocate(BLOCK));
        assertThat(submitted(context, ofArena)).isEqualTo(closable);
        ofArena.release();
    }

    /** The kernel knows the memory by its address, whatever has become of the arena. */
    @Test
    void shouldNameMemoryThatTheProgramMayCloseWhileTheKernelUsesIt() {
        fixture.hand.memoryUser = MemoryUser.KERNEL;
        BlockContext context = fixture.start();
        Buf buf = fixture.roomIn(fixture.add(Arena.ofShared()).allocate(BLOCK));
        BlockReadTask task = context.allocateRead(0, BLOCK, buf);

        refused(
                task::submit,
                Status.NOT_SUPPORTED,
                "arena that may be closed",
                buf.toString(),
                "expected=SharedMemory, LocalMemory");
        assertThat(fixture.hand.channels.getLast().held).isEmpty();
        task.free();
        buf.release();
    }

    /** What is accepted stays open: neither its mmap nor its memory can be closed meanwhile. */
    @Test
    void shouldKeepMemoryOpenWhileTheKernelUsesIt(SoftDpu card) {
        fixture.hand.memoryUser = MemoryUser.KERNEL;
        BlockContext context = fixture.start();
        SharedMemory memory = fixture.add(SharedMemory.allocate(BLOCK));
        Mmap mmap =
                fixture.add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(card.dpuDevice())
                                .start());
        Buf buf = fixture.roomIn(mmap);
        BlockReadTask task = context.allocateRead(0, BLOCK, buf);
        task.submit();

        refused(buf::release, Status.IN_USE, buf.toString());
        refused(mmap::close, Status.NOT_PERMITTED, "bufs=1");
        mmap.stop();
        refused(memory::close, Status.IN_USE, "sharedMemoryBytes=" + BLOCK);
        assertThat(fixture.end(2, task, Status.SUCCESS)).isEqualTo(Status.SUCCESS);
        task.free();
        buf.release();
        memory.close();
    }

    /** The status of a submission; what was accepted is brought to its end. */
    private Status submitted(BlockContext context, Buf buf) {
        BlockReadTask task = context.allocateRead(0, BLOCK, buf);
        Status submitted = task.trySubmit();
        if (submitted == Status.SUCCESS) {
            assertThat(fixture.end(2, task, Status.SUCCESS)).isEqualTo(Status.SUCCESS);
        }
        task.free();
        return submitted;
    }

    private static void refused(ThrowingCallable call, Status status, String... named) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refusal -> {
                            assertThat(refusal.status()).as(refusal.getMessage()).isEqualTo(status);
                            assertThat(refusal.getMessage()).contains(named);
                        });
    }
}
