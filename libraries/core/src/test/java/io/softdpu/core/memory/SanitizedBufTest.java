package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.ARRAY;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import io.softdpu.core.execution.SanitizerReport.Kind;
import io.softdpu.core.spi.Regions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Effects of the sanitizer on the memory of bufs, and its reports. */
class SanitizedBufTest {
    private static final int SIZE = 256;
    private static final byte POISON = (byte) 0xa5;

    @TempDir Path folder;
    private Machines machines;
    private Sanitizer sanitizer;
    private Device device;
    private Mmap mmap;
    private BufInventory inventory;
    private MemorySegment memory;
    private final List<SanitizerReport> reports = new ArrayList<>();

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        sanitizer = machines.add(Sanitizer.start(42));
        sanitizer.setListener(reports::add);
        device = machines.device(Side.HOST, "pf0");
        mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(machines.add(SharedMemory.allocate(SIZE)))
                                .setPermissions(Permissions.of(AccessFlag.PCI_READ_WRITE))
                                .addDevice(device)
                                .start());
        memory = mmap.segment();
        for (int i = 0; i < SIZE; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) i);
        }
        inventory = machines.add(BufInventory.create(8).start());
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private byte at(long offset) {
        return memory.get(ValueLayout.JAVA_BYTE, offset);
    }

    private void assertReported(Kind kind, String message) {
        assertThat(reports).hasSize(1);
        assertThat(reports.getFirst().kind()).isEqualTo(kind);
        assertThat(reports.getFirst().message()).startsWith(message).contains("buf=buf[");
        assertThat(reports.getFirst().allocatedAt().getStackTrace())
                .extracting(StackTraceElement::getClassName)
                .contains(getClass().getName());
        assertThat(sanitizer.reports(kind)).isEqualTo(1);
        reports.clear();
    }

    @Test
    void shouldNameTheOldestAllocationWhenAllBufsAreInUse() {
        List<Buf> bufs = new ArrayList<>();
        bufs.add(allocateOldest());
        while (inventory.free() > 0) {
            bufs.add(inventory.bufByAddress(mmap, 0, 1));
        }
        Thrown.with(Status.NO_MEMORY, () -> inventory.bufByAddress(mmap, 0, 1))
                .cause()
                .extracting(Throwable::getStackTrace, as(ARRAY))
                .extracting("methodName")
                .contains("allocateOldest");
        bufs.forEach(Buf::release);
    }

    private Buf allocateOldest() {
        return inventory.bufByAddress(mmap, 0, 1);
    }

    @Test
    void shouldPoisonTheMemoryThatATaskWillWrite() {
        Buf first = inventory.bufByArgs(mmap, 16, 32, 24, 8); // data 24 to 31, tailroom to 47
        Buf second = inventory.bufByAddress(mmap, 64, 4);
        first.chain(second);
        assertThat(Refusal.statusOf(Regions.markDestination(first, 2))).isEqualTo(Status.SUCCESS);
        for (int i = 0; i < SIZE; i++) {
            boolean tailroom = i >= 32 && i < 48 || i >= 64 && i < 68;
            assertThat(at(i)).as("byte %d", i).isEqualTo(tailroom ? POISON : (byte) i);
        }
        Regions.clearInFlight(first);
        first.release();
        assertThat(reports).isEmpty();
    }

    @Test
    void shouldFillNoMoreThanATaskIsGoingToWrite() {
        Buf first = inventory.bufByAddress(mmap, 0, 8);
        Buf second = inventory.bufByAddress(mmap, 16, 8);
        first.chain(second);
        assertThat(Refusal.statusOf(Regions.markDestination(first, 2, 11)))
                .isEqualTo(Status.SUCCESS);
        for (int i = 0; i < SIZE; i++) {
            boolean written = i < 8 || i >= 16 && i < 19;
            assertThat(at(i)).as("byte %d", i).isEqualTo(written ? POISON : (byte) i);
        }
        Regions.clearInFlight(first);
        first.release();
    }

    @Test
    void shouldNotFillMemoryOfAnotherProgram() {
        Device p0 = machines.device(Side.DPU, "p0");
        Mmap remote = machines.add(Mmap.createFromExport(mmap.exportPci(device), p0));
        Buf buf = inventory.bufByAddress(remote, 0, SIZE);
        assertThat(Refusal.statusOf(Regions.markDestination(buf, 1))).isEqualTo(Status.SUCCESS);
        assertThat(at(SIZE - 1)).isEqualTo((byte) (SIZE - 1));
        Regions.clearInFlight(buf);
        assertThat(Refusal.statusOf(Regions.markSource(buf, 1))).isEqualTo(Status.SUCCESS);
        Regions.clearInFlight(buf);
        buf.release();
        assertThat(reports).isEmpty();
    }

    @Test
    void shouldReportASourceThatWasChangedInFlight() {
        Buf first = inventory.bufByData(mmap, 0, 16);
        Buf second = inventory.bufByArgs(mmap, 32, 32, 40, 8); // data 40 to 47
        first.chain(second);
        assertThat(Refusal.statusOf(Regions.markSource(first, 2))).isEqualTo(Status.SUCCESS);
        memory.set(ValueLayout.JAVA_BYTE, 39, (byte) 99); // its headroom is the user's
        memory.set(ValueLayout.JAVA_BYTE, 48, (byte) 99); // its tailroom is not read
        Regions.clearInFlight(first);
        assertThat(reports).isEmpty();
        assertThat(Refusal.statusOf(Regions.markSource(first, 2))).isEqualTo(Status.SUCCESS);
        memory.set(ValueLayout.JAVA_BYTE, 47, (byte) 99);
        Regions.clearInFlight(first);
        assertReported(Kind.SOURCE_CHANGED, "source of a task was changed in flight");
        Regions.clearInFlight(first);
        assertThat(reports).as("cleared twice").isEmpty();
        first.release();
    }

    @Test
    void shouldReportABufThatWasNotReleased() {
        Buf forgotten = inventory.bufByAddress(mmap, 0, 8);
        inventory.bufByAddress(mmap, 8, 8).release();
        Thrown.with(Status.IN_USE, inventory::stop)
                .hasMessage("bufs are in use: bufs=1, total=8, expected=each released")
                .cause()
                .extracting(Throwable::getStackTrace, as(ARRAY))
                .anySatisfy(frame ->
                        assertThat(frame.toString())
                                .contains("SanitizedBufTest.shouldReportABufThatWasNotReleased"));
        assertReported(Kind.BUF_LEAKED, "buf was not released before the end");
        forgotten.release();
        inventory.stop();
        inventory.start();

        BufPool pool = machines.add(BufPool.create(2, 16, mmap).start());
        Buf pooled = pool.allocate();
        Thrown.with(Status.IN_USE, pool::close);
        assertThat(reports).hasSize(1);
        assertThat(reports.getFirst().kind()).isEqualTo(Kind.BUF_LEAKED);
        pooled.release();
    }

    @Test
    void shouldReportWhatIsDoneToABufInFlight() {
        Buf buf = inventory.bufByAddress(mmap, 0, 8);
        assertThat(Refusal.statusOf(Regions.markSource(buf, 1))).isEqualTo(Status.SUCCESS);
        Thrown.with(Status.IN_USE, () -> buf.setDataLength(4));
        assertReported(Kind.BUF_MISUSED, "buf was changed or released in flight");
        Thrown.with(Status.IN_USE, buf::release);
        assertThat(reports).hasSize(1);
        assertThat(Refusal.statusOf(Regions.markDestination(buf, 1))).isEqualTo(Status.IN_USE);
        assertThat(reports).hasSize(2);
        assertThat(reports.getLast().message()).startsWith("buf was given to a second task");
        Regions.clearInFlight(buf);
        buf.release();
    }

    @Test
    void shouldReportABufThatIsUsedAfterItsRelease() {
        Buf buf = inventory.bufByAddress(mmap, 0, 8);
        buf.release();
        Thrown.with(Status.BAD_STATE, buf::release);
        assertReported(Kind.BUF_MISUSED, "buf was used after its release");
        assertThat(Refusal.statusOf(Regions.markSource(buf, 1))).isEqualTo(Status.BAD_STATE);
        assertThat(reports).hasSize(1);
    }

    @Test
    void shouldFindNothingAboutBufsThatAreUsedRightly() {
        for (int i = 0; i < 100; i++) {
            Buf source = inventory.bufByData(mmap, 0, 8);
            Buf destination = inventory.bufByAddress(mmap, 8, 8);
            assertThat(Refusal.statusOf(Regions.markSource(source, 1))).isEqualTo(Status.SUCCESS);
            assertThat(Refusal.statusOf(Regions.markDestination(destination, 1)))
                    .isEqualTo(Status.SUCCESS);
            MemorySegment.copy(memory, 0, memory, 8, 8);
            Regions.clearInFlight(source);
            Regions.clearInFlight(destination);
            Regions.appendData(destination, 8);
            destination.resetDataLength();
            source.release();
            destination.release();
        }
        inventory.stop();
        inventory.start();
        assertThat(reports).isEmpty();
    }
}
