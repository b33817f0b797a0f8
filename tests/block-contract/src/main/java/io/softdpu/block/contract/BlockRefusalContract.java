package io.softdpu.block.contract;

import static io.softdpu.block.contract.BlockDeviceContract.refuses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockReadTask;
import io.softdpu.block.BlockWriteTask;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.LocalMemory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that are refused at submission, with their reasons; nothing has changed then. */
public abstract class BlockRefusalContract extends BlockModelContract {
    /** For subclasses. */
    protected BlockRefusalContract() {}

    // ---- ranges ----

    @ParameterizedTest
    @ValueSource(longs = {1, -1, 100, Long.MIN_VALUE + 1, Long.MAX_VALUE})
    void shouldRefuseAnOffsetThatIsNoMultipleOfTheBlockSize(long offset) {
        refusesEach(offset, block(), "offsetBytes=" + offset, "multiples of " + block());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, -1, 0, 100, Long.MIN_VALUE})
    void shouldRefuseALengthThatIsNoPositiveMultipleOfTheBlockSize(long length) {
        refusesEach(0, length, "lengthBytes=" + length, "multiples of " + block());
    }

    @Test
    void shouldRefuseARangeBeyondTheEnd() {
        refusesEach(DEVICE_BYTES, block(), "offsetBytes=" + DEVICE_BYTES, "end of " + DEVICE_BYTES);
        refusesEach(DEVICE_BYTES - block(), 2L * block(), "lengthBytes=" + 2 * block(), "end of ");
        refusesEach(-block(), block(), "offsetBytes=" + -block(), "end of " + DEVICE_BYTES);
        long last = Long.MAX_VALUE / block() * block();
        refusesEach(last, block(), "offsetBytes=" + last, "end of " + DEVICE_BYTES);
        refusesEach(Long.MIN_VALUE, block(), "offsetBytes=" + Long.MIN_VALUE);
    }

    /** A length beyond that of the largest request is refused for that where there is data. */
    @Test
    void shouldRefuseARangeThatIsLongerThanAnything() {
        Submitter submitter = start();
        long length = Long.MAX_VALUE / block() * block();

        Buf buf = submitter.room(0, block());
        refused(
                submitter,
                submitter.context.allocateRead(0, length, buf),
                Status.TOO_BIG,
                "lengthBytes=" + length);
        buf.release();
        if (environment().features().contains(BlockFeature.DISCARD)) {
            refused(
                    submitter,
                    submitter.context.allocateDiscard(0, length),
                    Status.INVALID_VALUE,
                    "lengthBytes=" + length);
        }
    }

    /** Each type of tasks with a range, without data where it has none to refuse first. */
    private void refusesEach(long offset, long length, String... named) {
        Submitter submitter = start();
        Buf buf = submitter.room(0, 4L * block());
        refused(
                submitter,
                submitter.context.allocateRead(offset, length, buf),
                Status.INVALID_VALUE,
                named);
        buf.release();
        if (length >= 0 && length <= 4L * block()) {
            Buf data = submitter.data(0, length == 0 ? block() : length);
            data.setDataLength(length);
            refused(
                    submitter,
                    submitter.context.allocateWrite(offset, data),
                    Status.INVALID_VALUE,
                    named);
            data.release();
        }
        if (environment().features().contains(BlockFeature.DISCARD)) {
            refused(
                    submitter,
                    submitter.context.allocateDiscard(offset, length),
                    Status.INVALID_VALUE,
                    named);
        }
        if (environment().features().contains(BlockFeature.WRITE_ZEROES)) {
            refused(
                    submitter,
                    submitter.context.allocateWriteZeroes(offset, length),
                    Status.INVALID_VALUE,
                    named);
        }
        if (environment().features().contains(BlockFeature.EXTENTS)) {
            refused(
                    submitter,
                    submitter.context.allocateExtents(offset, length),
                    Status.INVALID_VALUE,
                    named);
        }
    }

    // ---- limits ----

    @Test
    void shouldHavePossibleLimits() {
        BlockProperties properties = openDetached().properties();

        assertThat(properties.preferredRequestBytes())
                .isPositive()
                .isLessThanOrEqualTo(properties.maxRequestBytes());
        assertThat(properties.preferredRequestBytes() % block()).isZero();
        assertThat(properties.maxRequestBytes() % block()).isZero();
        assertThat(Integer.bitCount(properties.memoryAlignmentBytes())).isOne();
    }

    @Test
    void shouldRefuseARequestBeyondTheLargest() {
        BlockDevice device = open();
        Submitter submitter = start(device);
        long limit = device.properties().maxRequestBytes();
        long length = limit + block();

        Buf buf = submitter.room(0, block());
        refused(
                submitter,
                submitter.context.allocateRead(0, length, buf),
                Status.TOO_BIG,
                "lengthBytes=" + length,
                "expected=" + limit,
                device.toString());
        buf.release();
    }

    @Test
    void shouldRefuseMemoryThatIsNotAligned() {
        BlockDevice device = open();
        int alignment = device.properties().memoryAlignmentBytes();
        assumeTrue(alignment > 1);
        Submitter submitter = start(device);
        long at = alignment / 2;

        Buf room = submitter.room(at, block());
        refused(
                submitter,
                submitter.context.allocateRead(0, block(), room),
                Status.INVALID_VALUE,
                "addressBytes=" + (submitter.memory.address() + at),
                "multiple of " + alignment);
        room.release();
        Buf data = submitter.data(at, block());
        refused(
                submitter,
                submitter.context.allocateWrite(0, data),
                Status.INVALID_VALUE,
                "addressBytes=" + (submitter.memory.address() + at),
                "multiple of " + alignment);
        data.release();
    }

    @Test
    void shouldAcceptMemoryAtEachMultipleOfTheAlignment() {
        BlockDevice device = open();
        Submitter submitter = start(device);
        int alignment = device.properties().memoryAlignmentBytes();
        for (int i = 0; i < 16; i++) {
            assertThat(submitter.read(0, block(), (long) i * alignment)).isEqualTo(Status.SUCCESS);
        }
    }

    @Test
    void shouldRefuseFuaWithoutTheFeature() {
        Submitter submitter = start();
        Buf data = submitter.data(0, block());
        BlockWriteTask task = submitter.context.allocateWrite(0, data);
        if (environment().features().contains(BlockFeature.FUA)) {
            assertThat(task.setFua(true).isFua()).isTrue();
        } else {
            refuses(Status.NOT_SUPPORTED, () -> task.setFua(true), "FUA");
            assertThat(task.isFua()).isFalse();
        }
        task.free();
        data.release();
    }

    // ---- bufs ----

    @Test
    void shouldRefuseABufWithoutRoom() {
        Submitter submitter = start();
        Buf buf = submitter.room(0, 2L * block() - 1);

        refused(
                submitter,
                submitter.context.allocateRead(0, 2L * block(), buf),
                Status.INVALID_VALUE,
                "tailroom");
        buf.release();
    }

    @Test
    void shouldRefuseABufThatWasReleased() {
        Submitter submitter = start();
        Buf buf = submitter.room(0, block());
        BlockReadTask read = submitter.context.allocateRead(0, block(), buf);
        BlockWriteTask write = submitter.context.allocateWrite(0, buf);
        buf.release();

        refused(submitter, read, Status.BAD_STATE, "destination");
        refused(submitter, write, Status.BAD_STATE, "source");
    }

    @Test
    void shouldRefuseAListOfBufs() {
        Submitter submitter = start();
        Buf list = submitter.data(0, block());
        list.chain(submitter.data(block(), block()));

        refused(
                submitter,
                submitter.context.allocateWrite(0, list),
                Status.INVALID_VALUE,
                "operand=source");
        list.release();
    }

    @Test
    void shouldRefuseABufInFlight() {
        Submitter submitter = start();
        Buf buf = submitter.inventory.bufByArgs(submitter.mmap, 0, 2L * block(), 0, block());
        BlockWriteTask first = submitter.context.allocateWrite(0, buf);
        assertThat(submitter.submit(first)).isEqualTo(Status.SUCCESS);

        refused(
                submitter,
                submitter.context.allocateRead(0, block(), buf),
                Status.IN_USE,
                "operand=destination");
        submitter.awaitEnd();
        first.free();
        buf.release();
    }

    @Test
    void shouldRefuseMemoryWithoutTheRight() {
        Submitter submitter = start();
        LocalMemory memory = submitter.add(LocalMemory.allocate(block()));
        Mmap readOnly = submitter.map(memory, Permissions.LOCAL_READ_ONLY);
        Buf buf = submitter.inventory.bufByAddress(readOnly, 0, block());

        refused(
                submitter,
                submitter.context.allocateRead(0, block(), buf),
                Status.NOT_PERMITTED,
                "operand=destination");
        buf.setDataLength(block());
        assertThat(submitter.run(submitter.context.allocateWrite(0, buf)))
                .isEqualTo(Status.SUCCESS);
        buf.release();
    }

    @Test
    void shouldRefuseMemoryWithoutTheDevice() {
        Submitter submitter = start();
        Device other = submitter.add(card().dpu().findDevice("p1").open());
        LocalMemory memory = submitter.add(LocalMemory.allocate(block()));
        Mmap mmap =
                submitter.add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(other)
                                .start());
        Buf buf = submitter.inventory.bufByAddress(mmap, 0, block());

        refused(
                submitter,
                submitter.context.allocateRead(0, block(), buf),
                Status.NOT_PERMITTED,
                "operand=destination");
        buf.release();
    }

    /** A device whose requests leave the engine's thread may refuse it. */
    @Test
    void shouldUseMemoryOnTheHeapAndOfAThreadOrRefuseIt(SeededRandom random) {
        Submitter submitter = start();
        byte[] bytes = random.bytes(block());
        submitter.write(0, bytes);
        try (Arena arena = Arena.ofConfined()) {
            for (MemorySegment memory :
                    List.of(
                            MemorySegment.ofArray(new byte[block()]),
                            arena.allocate(block(), 4096))) {
                try (Mmap mmap = submitter.mapped(memory)) {
                    Buf buf = submitter.inventory.bufByAddress(mmap, 0, block());
                    BlockReadTask task = submitter.context.allocateRead(0, block(), buf);
                    Status ended = submitter.run(task);
                    buf.release();
                    assertThat(ended).isIn(Status.SUCCESS, Status.NOT_SUPPORTED);
                    if (ended == Status.SUCCESS) {
                        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(kept(bytes));
                    }
                }
            }
        }
    }

    @Test
    void shouldReadAndWriteTheNextTimeAfterARefusal(SeededRandom random) {
        Submitter submitter = start();
        byte[] bytes = random.bytes(block());
        submitter.write(0, bytes);
        Buf buf = submitter.room(0, block());
        BlockReadTask task = submitter.context.allocateRead(DEVICE_BYTES, block(), buf);
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        task.setRange(0, block());

        assertThat(submitter.run(task)).isEqualTo(Status.SUCCESS);
        buf.release();
        assertThat(submitter.bytes(0, block())).isEqualTo(kept(bytes));
    }

    /** Asserts that a submission is refused, and leaves task and bufs with the user. */
    private static void refused(Submitter submitter, Task task, Status status, String... named) {
        int before = submitter.context.inFlightTasks();
        assertThat(task.trySubmit()).isEqualTo(status);
        DpuException refusal = Objects.requireNonNull(task.refusal(), "a reason");
        assertThat(refusal.status()).isEqualTo(status);
        assertThat(refusal.getMessage()).contains(named);
        assertThat(submitter.context.inFlightTasks()).isEqualTo(before);
        task.free();
    }
}
