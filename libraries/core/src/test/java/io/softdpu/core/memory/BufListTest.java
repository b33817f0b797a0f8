package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.MemoryRight;
import io.softdpu.core.spi.Regions;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lists of bufs: chaining and splitting, references, and the view of libraries. */
class BufListTest {
    private static final int BUFS = 8;

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private Mmap mmap;
    private BufInventory inventory;
    private List<Buf> bufs;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(MemorySegment.ofArray(new byte[4096]))
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(device)
                                .start());
        inventory = machines.add(BufInventory.create(BUFS).start());
        bufs = new ArrayList<>();
        for (int i = 0; i < BUFS; i++) { // 10 long, 3 of it headroom and i of it data
            bufs.add(inventory.bufByArgs(mmap, 100L * i, 10, 100L * i + 3, i));
        }
    }

    @AfterEach
    void close() throws Exception {
        for (Buf buf : bufs) {
            if (buf.references() > 0 && buf.isFirstInList()) {
                buf.release();
            }
        }
        machines.close();
    }

    private Buf list(int... indices) {
        Buf head = bufs.get(indices[0]);
        for (int i = 1; i < indices.length; i++) {
            head.chain(bufs.get(indices[i]));
        }
        return head;
    }

    private void assertList(int... indices) {
        List<Buf> expected = new ArrayList<>();
        for (int index : indices) {
            expected.add(bufs.get(index));
        }
        List<Buf> elements = new ArrayList<>();
        for (Buf buf = expected.getFirst(); buf != null; buf = buf.nextInList()) {
            elements.add(buf);
        }
        assertThat(elements).containsExactlyElementsOf(expected);
        assertThat(expected.getFirst().listLength()).isEqualTo(indices.length);
        for (Buf element : expected) {
            assertThat(element.lastInList()).isSameAs(expected.getLast());
            assertThat(element.isInList()).isEqualTo(indices.length > 1);
            assertThat(element.isFirstInList()).isEqualTo(element == expected.getFirst());
            assertThat(element.isLastInList()).isEqualTo(element == expected.getLast());
        }
    }

    @Test
    @Clause({"core-097", "core-103"})
    void shouldChainBufsAndListsAndTakeThemApart() {
        assertList(0);
        list(0, 1, 2);
        assertList(0, 1, 2);
        list(3, 4);
        bufs.get(0).chain(bufs.get(3));
        assertList(0, 1, 2, 3, 4);
        bufs.get(0).unchain(bufs.get(2));
        assertList(0, 1);
        assertList(2, 3, 4);
        bufs.get(2).unchain(bufs.get(4));
        assertList(2, 3);
        assertList(4);
        bufs.get(4).chain(bufs.get(0));
        assertList(4, 0, 1);
    }

    @Test
    void shouldRefuseToChainWhatIsNoListOfItsOwn() {
        list(0, 1);
        list(2, 3);
        Thrown.with(Status.INVALID_VALUE, () -> bufs.get(0).chain(bufs.get(0)))
                .hasMessageContaining("itself");
        Thrown.with(Status.NOT_PERMITTED, () -> bufs.get(4).chain(bufs.get(3)))
                .hasMessageContainingAll("behind its head", "listLength=2");
        Thrown.with(Status.NOT_PERMITTED, () -> bufs.get(1).chain(bufs.get(4)));
        Thrown.with(Status.NOT_PERMITTED, () -> bufs.get(0).chain(bufs.get(1)));
        bufs.get(2).retain();
        Thrown.with(Status.NOT_PERMITTED, () -> bufs.get(0).chain(bufs.get(2)))
                .hasMessageContaining("references=2");
        bufs.get(2).release();
        bufs.get(5).release();
        Thrown.with(Status.BAD_STATE, () -> bufs.get(0).chain(bufs.get(5)));
        Thrown.with(Status.BAD_STATE, () -> bufs.get(5).chain(bufs.get(0)));
        assertList(0, 1);
        assertList(2, 3);
    }

    @Test
    void shouldRefuseToUnchainWhatIsNotInTheList() {
        list(0, 1, 2);
        list(3, 4);
        Thrown.with(Status.INVALID_VALUE, () -> bufs.get(0).unchain(bufs.get(4)))
                .hasMessageContaining("not an element");
        Thrown.with(Status.INVALID_VALUE, () -> bufs.get(0).unchain(bufs.get(0)));
        Thrown.with(Status.INVALID_VALUE, () -> bufs.get(0).unchain(bufs.get(5)));
        Thrown.with(Status.NOT_PERMITTED, () -> bufs.get(1).unchain(bufs.get(2)));
        bufs.get(5).release();
        Thrown.with(Status.BAD_STATE, () -> bufs.get(5).unchain(bufs.get(0)));
        Thrown.with(Status.INVALID_VALUE, () -> bufs.get(0).unchain(bufs.get(5)));
        assertList(0, 1, 2);
        assertList(3, 4);
    }

    @Test
    void shouldGoBackWholeWithTheLastReferenceOfItsHead() {
        Buf head = list(0, 1, 2);
        Thrown.with(Status.NOT_PERMITTED, () -> bufs.get(1).release());
        Thrown.with(Status.NOT_PERMITTED, () -> bufs.get(2).retain());
        Thrown.with(Status.NOT_PERMITTED, () -> bufs.get(1).listLength());
        head.retain();
        head.release();
        assertThat(inventory.free()).isZero();
        head.release();
        assertThat(inventory.free()).isEqualTo(3);
        for (int i = 0; i < 3; i++) {
            assertThat(bufs.get(i).references()).isZero();
            Thrown.with(Status.BAD_STATE, bufs.get(i)::release);
        }
        Buf again = inventory.bufByAddress(mmap, 0, 1);
        assertThat(again.isInList()).as("out of its list").isFalse();
        assertThat(again.listLength()).isEqualTo(1);
        again.release();
    }

    @Test
    void shouldKeepItsHeadsReferencesAndHaveOneBehindACut() {
        Buf head = list(0, 1);
        head.retain();
        head.chain(bufs.get(2));
        head.unchain(bufs.get(1));
        assertThat(head.references()).isEqualTo(2);
        assertThat(bufs.get(1).references()).isEqualTo(1);
        bufs.get(1).release();
        assertThat(inventory.free()).as("1 and 2").isEqualTo(2);
        head.release();
    }

    @Test
    void shouldReleaseEveryMmapAndInventoryOfItsElements() {
        Mmap other =
                Mmap.create()
                        .setMemory(MemorySegment.ofArray(new byte[16]))
                        .setPermissions(Permissions.LOCAL_READ_WRITE)
                        .addDevice(device)
                        .start();
        BufInventory second = BufInventory.create(1).start();
        bufs.get(0).chain(second.bufByData(other, 0, 16));
        Thrown.with(Status.IN_USE, second::stop);
        Thrown.with(Status.NOT_PERMITTED, other::close);
        bufs.get(0).release();
        second.close();
        other.close();
        assertThat(inventory.free()).isEqualTo(1);
    }

    @Test
    void shouldChangeItsElementsWhereverTheyAre() {
        list(0, 1, 2);
        Buf middle = bufs.get(1);
        middle.setData(100, 10);
        assertThat(middle.tailroom()).isZero();
        middle.reuseByAddress(mmap, 500, 20);
        assertThat(BufLists.tailroom(bufs.get(0))).isEqualTo(7 + 20 + 5);
        middle.setDataLength(4);
        assertThat(middle.dataLength()).isEqualTo(4);
        Thrown.with(Status.INVALID_VALUE, () -> middle.setDataLength(21));
        bufs.get(2).resetDataLength();
        assertThat(BufLists.dataLength(bufs.get(0))).isEqualTo(4);
        assertList(0, 1, 2);
    }

    @Test
    void shouldDuplicateOneElementAlone() {
        list(0, 1);
        bufs.get(7).release();
        Buf twin = inventory.duplicate(bufs.get(0));
        assertThat(twin.isInList()).isFalse();
        assertThat(twin.headroom()).isEqualTo(3);
        twin.release();
    }

    @Test
    @Clause("core-110")
    void shouldBelongToTheLibraryWholeWhileInFlight() {
        Buf head = list(0, 1, 2);
        assertThat(Refusal.statusOf(Regions.markSource(head, 3))).isEqualTo(Status.SUCCESS);
        assertThat(Refusal.statusOf(Regions.markSource(head, 3))).isEqualTo(Status.IN_USE);
        assertThat(Refusal.statusOf(Regions.markDestination(head, 3))).isEqualTo(Status.IN_USE);
        for (int i = 0; i < 3; i++) {
            Buf element = bufs.get(i);
            Thrown.with(Status.IN_USE, element::resetDataLength);
            Thrown.with(Status.IN_USE, () -> element.setData(element.offset(), 0));
            Thrown.with(Status.IN_USE, () -> element.reuseByData(mmap, 0, 1));
            Thrown.with(Status.IN_USE, () -> element.chain(bufs.get(3)));
            Thrown.with(Status.IN_USE, () -> bufs.get(3).chain(element));
        }
        Thrown.with(Status.IN_USE, head::release);
        Thrown.with(Status.IN_USE, () -> head.unchain(bufs.get(1)));
        assertList(0, 1, 2);
        Regions.clearInFlight(head);
        head.unchain(bufs.get(1));
        assertThat(Refusal.statusOf(Regions.markDestination(bufs.get(1), 2)))
                .isEqualTo(Status.SUCCESS);
        Regions.clearInFlight(bufs.get(1));
    }

    @Test
    @Clause("core-107")
    void shouldBeRefusedByALibraryThatTakesFewerElements() {
        Buf head = list(0, 1, 2);
        assertThat(Refusal.statusOf(Regions.markSource(head, 2))).isEqualTo(Status.INVALID_VALUE);
        assertThat(Refusal.statusOf(Regions.markDestination(head, 1)))
                .isEqualTo(Status.INVALID_VALUE);
        head.resetDataLength(); // not in flight
        assertThat(Refusal.statusOf(Regions.markSource(bufs.get(1), 9)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(Regions.markSource(head, 2))
                .asString()
                .contains("buf list is too long: listLength=3, buf=buf[", "expected=2 at most");
        assertThat(Refusal.statusOf(Regions.markSource(head, 3))).isEqualTo(Status.SUCCESS);
        Regions.clearInFlight(head);
    }

    @Test
    void shouldNameTheBufAndItsLengthsInTheRefusalsOfLibraries() {
        Buf head = list(0, 1, 2); // data of 3 bytes, tailrooms of 18
        Refusal released = BufLists.released("source", head);
        Refusal little = BufLists.tooLittleTailroom("destination", head, 19);
        Refusal much = BufLists.tooMuchData("source", head, 2);
        assertThat(Refusal.statusOf(released)).isEqualTo(Status.BAD_STATE);
        assertThat(released)
                .asString()
                .contains("buf was released: source=buf[", "expected=a buf in use");
        assertThat(Refusal.statusOf(little)).isEqualTo(Status.INVALID_VALUE);
        assertThat(little).asString().contains("tailroom 18 < 19: destination=buf[");
        assertThat(Refusal.statusOf(much)).isEqualTo(Status.INVALID_VALUE);
        assertThat(much)
                .asString()
                .contains("data length 3 > 2: source=buf[", "expected=2 bytes at most");
    }

    @Test
    void shouldAppendDataFromTheFirstTailroomToTheLast() {
        Buf head = list(0, 1, 2); // tailrooms of 7, 6 and 5
        assertThat(BufLists.dataLength(head)).isEqualTo(3);
        assertThat(BufLists.tailroom(head)).isEqualTo(18);
        BufLists.appendData(head, 9);
        assertThat(bufs.get(0).dataLength()).isEqualTo(7);
        assertThat(bufs.get(1).dataLength()).isEqualTo(1 + 2);
        assertThat(bufs.get(2).dataLength()).as("nothing left for it").isEqualTo(2);
        Thrown.with(Status.INVALID_VALUE, () -> BufLists.appendData(head, 10))
                .hasMessageContainingAll("sizeBytes=10", "tailroom=9", "listLength=3");
        Thrown.with(Status.INVALID_VALUE, () -> BufLists.appendData(head, -1));
        assertThat(BufLists.dataLength(head)).isEqualTo(12);
        BufLists.appendData(head, 9);
        assertThat(BufLists.tailroom(head)).isZero();
        BufLists.appendData(head, 0);
    }

    @Test
    void shouldBeUsableOnlyIfEveryElementIs() {
        Mmap readOnly =
                machines.add(
                        Mmap.create()
                                .setMemory(MemorySegment.ofArray(new byte[16]))
                                .setPermissions(Permissions.LOCAL_READ_ONLY)
                                .addDevice(device)
                                .start());
        Buf head = list(0, 1, 2);
        assertThat(
                        Refusal.statusOf(
                                new MemoryRight(device, Permissions.LOCAL_READ_WRITE).check(head)))
                .isEqualTo(Status.SUCCESS);
        bufs.get(1).reuseByAddress(readOnly, 0, 16);
        assertThat(
                        Refusal.statusOf(
                                new MemoryRight(device, Permissions.LOCAL_READ_WRITE).check(head)))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(
                        Refusal.statusOf(
                                new MemoryRight(device, Permissions.LOCAL_READ_ONLY).check(head)))
                .isEqualTo(Status.SUCCESS);
        Device other = machines.device(Side.HOST, "pf1");
        assertThat(
                        Refusal.statusOf(
                                new MemoryRight(other, Permissions.LOCAL_READ_ONLY).check(head)))
                .isEqualTo(Status.NOT_PERMITTED);
        bufs.get(1).reuseByAddress(mmap, 0, 16);
    }

    @Test
    void shouldLimitItsReferences() {
        Buf buf = bufs.get(0);
        while (buf.references() < Buf.MAX_REFERENCES) {
            buf.retain();
        }
        Thrown.with(Status.TOO_BIG, buf::retain).hasMessageContaining("max=65535");
        while (buf.references() > 1) {
            buf.release();
        }
    }
}
