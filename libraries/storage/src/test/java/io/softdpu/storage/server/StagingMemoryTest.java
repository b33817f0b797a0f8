package io.softdpu.storage.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.block.BlockContext;
import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.EnumSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Room for pieces in staging memory. */
class StagingMemoryTest {
    private static final int MIB = 1 << 20;

    @TempDir private Path folder;
    private Machine machine;
    private Device device;

    @BeforeEach
    void openDevice() {
        machine = Machine.builder(Side.TARGET).fabricFolder(folder).open();
        device = machine.findDevice("t0").open();
    }

    @AfterEach
    void closeDevice() {
        device.close();
        machine.close();
    }

    @Test
    void shouldGiveTheLowestRoomThatIsLongEnough() {
        try (StagingMemory memory = memory(volume(512, 32 * MIB, 1), 16 << 10)) {
            assertThat(memory.take(512)).isEqualTo(0);
            assertThat(memory.take(4096)).isEqualTo(4096);
            assertThat(memory.take(4097)).isEqualTo(8192);
            assertThat(memory.take(512)).isEqualTo(StagingMemory.NO_ROOM);

            memory.giveBack(0, 512);
            assertThat(memory.take(8192)).isEqualTo(StagingMemory.NO_ROOM);
            memory.giveBack(8192, 4097);
            assertThat(memory.take(8192)).isEqualTo(8192);
            assertThat(memory.take(4096)).isEqualTo(0);
            assertThat(memory.take(4096)).isEqualTo(StagingMemory.NO_ROOM);

            memory.giveBack(4096, 4096);
            memory.giveBack(8192, 8192);
            memory.giveBack(0, 4096);
            assertThat(memory.take(16 << 10)).isEqualTo(0);
        }
    }

    @ParameterizedTest
    @CsvSource({"512, 1", "512, 512", "4096, 4096", "512, 65536", "1048576, 4194304"})
    void shouldAlignEachPieceAsTheVolumeWants(int blockSizeBytes, int alignmentBytes) {
        BlockProperties volume = volume(blockSizeBytes, 32 * MIB, alignmentBytes);
        long sizeBytes = 3 * StagingMemory.leastBytes(volume);
        try (StagingMemory memory = memory(volume, sizeBytes);
                BufInventory inventory = BufInventory.create(1)) {
            inventory.start();
            Buf all = inventory.bufByAddress(memory.mmap(), 0, memory.mmap().sizeBytes());
            for (int i = 0; i < 3; i++) {
                long offset = memory.take(blockSizeBytes);
                assertThat(offset).isNotEqualTo(StagingMemory.NO_ROOM);
                assertThat((memory.mmap().segment().address() + offset) % alignmentBytes).isZero();
                assertThat(offset + blockSizeBytes).isLessThanOrEqualTo(all.length());
            }
            all.release();
        }
    }

    @Test
    void shouldCutPiecesAtTheLargestRequest() {
        assertThat(StagingMemory.pieceBytes(volume(512, 32 * MIB, 1))).isEqualTo(MIB);
        assertThat(StagingMemory.pieceBytes(volume(512, 1536, 1))).isEqualTo(1536);
    }

    @Test
    void shouldNameTheOptionWhereItIsTooSmall() {
        BlockProperties volume = volume(4096, 32 * MIB, 1);
        StagingMemory.require(volume, MIB);

        DpuException failure =
                catchThrowableOfType(
                        DpuException.class, () -> StagingMemory.require(volume, MIB - 1));

        assertThat(failure.status()).isEqualTo(Status.NO_MEMORY);
        assertThat(failure)
                .hasMessageContaining("stagingBytes=1048575, volume=test,")
                .hasMessageContaining("expected=--staging-size 1048576 or more");
    }

    @Test
    void shouldNameTheOptionWhereThereIsNotAsMuch() {
        DpuException failure =
                catchThrowableOfType(
                        DpuException.class,
                        () -> memory(volume(4096, 32 * MIB, 1), 1L << 40).close());

        assertThat(failure.status()).isEqualTo(Status.NO_MEMORY);
        assertThat(failure)
                .hasMessageContaining("stagingBytes=1099511627776")
                .hasMessageContaining("expected=a smaller --staging-size");
    }

    /** A volume may keep a request for longer than a session waits for its end. */
    @Test
    void shouldStayWhileTheVolumeHasARequest() {
        int bytes = HandVolume.ALIGNMENT_BYTES;
        HandVolume volume = HandVolume.prepare("stays");
        volume.holding = true;
        StagingMemory memory = memory(volume(bytes, bytes, bytes), MIB);
        try (ProgressEngine engine = ProgressEngine.create();
                BlockDevice blocks = HandVolume.open("stays", MIB);
                BufInventory inventory = BufInventory.create(1)) {
            blocks.attach(device);
            BlockContext context = blocks.createContext();
            context.setReadTasks(1, Task::free, Task::free);
            engine.connect(context);
            context.start();
            inventory.start();
            Buf room = inventory.bufByAddress(memory.mmap(), memory.take(bytes), bytes);
            context.allocateRead(0, bytes, room).submit();
            context.stop();
            engine.progress();
            assertThat(volume.heldInStop).isTrue();

            assertThatThrownBy(memory::close).isInstanceOf(DpuException.class);
            memory.mmap().segment().fill((byte) 1); // as the volume may; fails once it is released

            volume.release();
            engine.runUntil(() -> context.state() == ContextState.IDLE, Patience.DEADLINE);
            room.release();
        }
        memory.close();
        assertThatThrownBy(() -> memory.mmap().segment().fill((byte) 1))
                .isInstanceOf(DpuException.class);
    }

    @Test
    void shouldTakeAndGiveBackWithoutAllocation() {
        try (StagingMemory memory = memory(volume(512, 32 * MIB, 1), MIB)) {
            AllocationMeter.assertNone(
                    1000,
                    () -> {
                        long first = memory.take(4096);
                        long second = memory.take(64 << 10);
                        memory.giveBack(first, 4096);
                        memory.giveBack(second, 64 << 10);
                    });
        }
    }

    private StagingMemory memory(BlockProperties volume, long sizeBytes) {
        return new StagingMemory(device, volume, sizeBytes);
    }

    private static BlockProperties volume(
            int blockSizeBytes, long maxRequestBytes, int alignmentBytes) {
        return new BlockProperties(
                64 * MIB,
                blockSizeBytes,
                blockSizeBytes,
                maxRequestBytes,
                alignmentBytes,
                EnumSet.noneOf(BlockFeature.class),
                "test");
    }
}
