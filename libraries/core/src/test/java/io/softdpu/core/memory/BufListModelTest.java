package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.spi.BufLists;
import io.softdpu.core.spi.Regions;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Bufs and lists of bufs compared with a simple model: Java lists of numbers for the descriptors,
 * byte arrays for the memory.
 */
class BufListModelTest {
    private static final int SIZE = 1024;
    private static final int POOL_ELEMENT = 40;

    /** Model of a buf. */
    private static final class Model {
        final Buf buf;
        final int mmap;
        final boolean fixed;
        long offset;
        long length;
        long dataOffset;
        long dataLength;
        int references = 1;

        /** The list that it is in; each list is one object for all of its elements. */
        List<Model> list = new ArrayList<>(List.of(this));

        Model(Buf buf, int mmap, boolean fixed) {
            this.buf = buf;
            this.mmap = mmap;
            this.fixed = fixed;
            this.offset = buf.offset();
            this.length = buf.length();
            this.dataOffset = buf.offset();
        }

        boolean isHead() {
            return list.getFirst() == this;
        }

        long tailroom() {
            return offset + length - dataOffset - dataLength;
        }
    }

    @TempDir Path folder;
    private Machines machines;
    private final byte[][] memories = {new byte[SIZE], new byte[SIZE]};
    private final Mmap[] mmaps = new Mmap[2];
    private BufInventory inventory;
    private BufPool pool;
    private SeededRandom random;
    private final List<Model> models = new ArrayList<>();

    /** Heads of lists that a task has. */
    private final List<Model> inFlight = new ArrayList<>();

    @BeforeEach
    void open(SeededRandom seeded) {
        random = seeded;
        machines = new Machines(folder);
        Device device = machines.device(Side.HOST, "pf0");
        for (int i = 0; i < mmaps.length; i++) {
            random.fill(MemorySegment.ofArray(memories[i]));
            mmaps[i] =
                    machines.add(
                            Mmap.create()
                                    .setMemory(MemorySegment.ofArray(memories[i]))
                                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                                    .addDevice(device)
                                    .start());
        }
        inventory = machines.add(BufInventory.create(12).start());
        pool = machines.add(BufPool.create(4, POOL_ELEMENT, mmaps[1]).start());
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    // ---- descriptions ----

    @Test
    @Clause({"core-092", "core-094", "core-097"})
    void shouldBeWhatTheModelIsUnderAnyCalls() {
        for (int step = 0; step < 20_000; step++) {
            if (models.isEmpty() || random.chance(0.1)) {
                take();
                continue;
            }
            Model one = any();
            Model other = any();
            switch (random.nextInt(10)) {
                case 0 -> setData(one);
                case 1 -> resetDataLength(one);
                case 2 -> reuse(one);
                case 3, 4 -> chain(one, other);
                case 5 -> unchain(one, other);
                case 6 -> append(one);
                case 7 -> retain(one);
                case 8 -> release(one);
                default -> markOrClear(one);
            }
            assertSame(one);
            assertSame(other);
            assertCounts();
        }
        models.forEach(this::assertSame);
        endAll();
    }

    private Model any() {
        return models.get(random.nextInt(models.size()));
    }

    private void take() {
        boolean fromPool = random.nextBoolean();
        Status expected = Status.SUCCESS;
        if (fromPool ? pool.free() == 0 : inventory.free() == 0) {
            expected = fromPool ? Status.EMPTY : Status.NO_MEMORY;
        }
        int mmap = fromPool ? 1 : random.nextInt(2);
        long offset = random.between(0, SIZE);
        long length = random.between(0, SIZE - offset);
        Buf[] taken = new Buf[1];
        assertThat(
                        attempt(() -> {
                            taken[0] =
                                    fromPool
                                            ? pool.allocate()
                                            : inventory.bufByAddress(mmaps[mmap], offset, length);
                        }))
                .isEqualTo(expected);
        if (taken[0] != null) {
            models.add(new Model(taken[0], mmap, fromPool));
        }
    }

    private void setData(Model one) {
        long offset = random.between(one.offset - 4, one.offset + one.length + 4);
        long length = random.between(-4, one.length + 4);
        boolean within =
                offset >= one.offset && length >= 0 && offset + length <= one.offset + one.length;
        Status expected = isInFlight(one) ? Status.IN_USE : invalidUnless(within);
        assertThat(attempt(() -> one.buf.setData(offset, length))).isEqualTo(expected);
        if (expected == Status.SUCCESS) {
            one.dataOffset = offset;
            one.dataLength = length;
        }
    }

    private void resetDataLength(Model one) {
        Status expected = isInFlight(one) ? Status.IN_USE : Status.SUCCESS;
        assertThat(attempt(one.buf::resetDataLength)).isEqualTo(expected);
        one.dataLength = expected == Status.SUCCESS ? 0 : one.dataLength;
    }

    /** Within the same mmap, so that the model's memory stays the same one. */
    private void reuse(Model one) {
        long offset = random.between(-2, SIZE);
        long length = random.between(0, SIZE + 2 - offset);
        Status expected = Status.SUCCESS;
        if (isInFlight(one)) {
            expected = Status.IN_USE;
        } else if (one.fixed) {
            expected = Status.NOT_PERMITTED;
        } else {
            expected = invalidUnless(offset >= 0 && offset + length <= SIZE);
        }
        assertThat(attempt(() -> one.buf.reuseByData(mmaps[one.mmap], offset, length)))
                .isEqualTo(expected);
        if (expected == Status.SUCCESS) {
            one.offset = offset;
            one.length = length;
            one.dataOffset = offset;
            one.dataLength = length;
        }
    }

    private void chain(Model one, Model other) {
        Status expected = Status.SUCCESS;
        if (isInFlight(one) || isInFlight(other)) {
            expected = Status.IN_USE;
        } else if (!one.isHead() || !other.isHead()) {
            expected = Status.NOT_PERMITTED;
        } else if (one == other) {
            expected = Status.INVALID_VALUE;
        } else if (other.references != 1) {
            expected = Status.NOT_PERMITTED;
        }
        assertThat(attempt(() -> one.buf.chain(other.buf))).isEqualTo(expected);
        if (expected == Status.SUCCESS) {
            one.list.addAll(other.list);
            one.list.forEach(element -> element.list = one.list);
        }
    }

    private void unchain(Model one, Model other) {
        // By chance two bufs are rarely in one list.
        Model element =
                random.nextBoolean() ? other : one.list.get(random.nextInt(one.list.size()));
        Status expected = Status.SUCCESS;
        if (isInFlight(one)) {
            expected = Status.IN_USE;
        } else if (!one.isHead()) {
            expected = Status.NOT_PERMITTED;
        } else if (element == one || element.list != one.list) {
            expected = Status.INVALID_VALUE;
        }
        assertThat(attempt(() -> one.buf.unchain(element.buf))).isEqualTo(expected);
        if (expected == Status.SUCCESS) {
            List<Model> all = one.list;
            int at = all.indexOf(element);
            List<Model> kept = new ArrayList<>(all.subList(0, at));
            List<Model> cut = new ArrayList<>(all.subList(at, all.size()));
            kept.forEach(each -> each.list = kept);
            cut.forEach(each -> each.list = cut);
        }
    }

    /** As a library does: on the head of a list, in flight or not. */
    private void append(Model one) {
        Model head = one.list.getFirst();
        long room = head.list.stream().mapToLong(Model::tailroom).sum();
        long size = random.between(-2, room + 2);
        Status expected = invalidUnless(size >= 0 && size <= room);
        assertThat(attempt(() -> BufLists.appendData(head.buf, size))).isEqualTo(expected);
        long left = expected == Status.SUCCESS ? size : 0;
        for (Model element : head.list) {
            long here = Math.min(left, element.tailroom());
            element.dataLength += here;
            left -= here;
        }
    }

    private void retain(Model one) {
        Status expected = one.isHead() ? Status.SUCCESS : Status.NOT_PERMITTED;
        assertThat(attempt(one.buf::retain)).isEqualTo(expected);
        one.references += expected == Status.SUCCESS ? 1 : 0;
    }

    private void release(Model one) {
        Status expected = Status.SUCCESS;
        if (!one.isHead()) {
            expected = Status.NOT_PERMITTED;
        } else if (one.references == 1 && isInFlight(one)) {
            expected = Status.IN_USE;
        }
        assertThat(attempt(one.buf::release)).isEqualTo(expected);
        if (expected == Status.SUCCESS && --one.references == 0) {
            one.list.forEach(element -> element.references = 0);
            models.removeAll(one.list);
        }
    }

    private void markOrClear(Model one) {
        if (inFlight.contains(one) && random.nextBoolean()) {
            Regions.clearInFlight(one.buf);
            inFlight.remove(one);
            return;
        }
        int limit = (int) random.between(1, 6);
        Status expected = Status.SUCCESS;
        if (!one.isHead()) {
            expected = Status.NOT_PERMITTED;
        } else if (inFlight.contains(one)) {
            expected = Status.IN_USE;
        } else {
            expected = invalidUnless(one.list.size() <= limit);
        }
        assertThat(
                        random.nextBoolean()
                                ? Refusal.statusOf(Regions.markSource(one.buf, limit))
                                : Refusal.statusOf(Regions.markDestination(one.buf, limit)))
                .isEqualTo(expected);
        if (expected == Status.SUCCESS) {
            inFlight.add(one);
        }
    }

    private boolean isInFlight(Model one) {
        return inFlight.contains(one.list.getFirst());
    }

    private static Status invalidUnless(boolean right) {
        return right ? Status.SUCCESS : Status.INVALID_VALUE;
    }

    private static Status attempt(Runnable call) {
        try {
            call.run();
            return Status.SUCCESS;
        } catch (DpuException e) {
            return e.status();
        }
    }

    private void assertSame(Model one) {
        assertThat(one.buf.references()).isEqualTo(one.references);
        if (one.references == 0) {
            assertThat(one.buf.isInList()).isFalse();
            return;
        }
        assertThat(one.buf.mmap()).isSameAs(mmaps[one.mmap]);
        assertThat(one.buf.offset()).isEqualTo(one.offset);
        assertThat(one.buf.length()).isEqualTo(one.length);
        assertThat(one.buf.dataOffset()).isEqualTo(one.dataOffset);
        assertThat(one.buf.dataLength()).isEqualTo(one.dataLength);
        assertThat(one.buf.headroom()).isEqualTo(one.dataOffset - one.offset);
        assertThat(one.buf.tailroom()).isEqualTo(one.tailroom());
        int at = one.list.indexOf(one);
        boolean isLast = at == one.list.size() - 1;
        assertThat(one.buf.nextInList()).isSameAs(isLast ? null : one.list.get(at + 1).buf);
        assertThat(one.buf.lastInList()).isSameAs(one.list.getLast().buf);
        assertThat(one.buf.isInList()).isEqualTo(one.list.size() > 1);
        assertThat(one.buf.isFirstInList()).isEqualTo(at == 0);
        assertThat(one.buf.isLastInList()).isEqualTo(isLast);
        Buf head = one.list.getFirst().buf;
        assertThat(head.listLength()).isEqualTo(one.list.size());
        assertThat(BufLists.dataLength(head))
                .isEqualTo(one.list.stream().mapToLong(element -> element.dataLength).sum());
        assertThat(BufLists.tailroom(head))
                .isEqualTo(one.list.stream().mapToLong(Model::tailroom).sum());
    }

    private void assertCounts() {
        long pooled = models.stream().filter(model -> model.fixed).count();
        assertThat(pool.free()).isEqualTo(pool.total() - (int) pooled);
        assertThat(inventory.free()).isEqualTo(inventory.total() - models.size() + (int) pooled);
    }

    private void endAll() {
        inFlight.forEach(head -> Regions.clearInFlight(head.buf));
        inFlight.clear();
        for (Model model : List.copyOf(models)) {
            while (model.isHead() && model.references > 0) {
                release(model);
            }
        }
        assertThat(models).isEmpty();
        assertThat(inventory.free()).isEqualTo(inventory.total());
        assertThat(pool.free()).isEqualTo(pool.total());
        assertThat(mmaps[0].users()).isZero();
        assertThat(mmaps[1].users()).as("the pool").isEqualTo(1);
    }

    // ---- data ----

    /**
     * A library that knows nothing but what {@code spi} gives it: copies list to list, a byte each.
     */
    private static void copy(Buf source, Buf destination) {
        assertThat(Refusal.statusOf(Regions.markSource(source, 8))).isEqualTo(Status.SUCCESS);
        assertThat(
                        Refusal.statusOf(
                                Regions.markDestination(
                                        destination, 8, BufLists.dataLength(source))))
                .isEqualTo(Status.SUCCESS);
        @Nullable Buf to = destination;
        long toOffset = to.dataOffset() + to.dataLength();
        long copied = 0;
        for (@Nullable Buf from = source; from != null; from = from.nextInList()) {
            MemorySegment read = Regions.segmentOf(from);
            for (long i = 0; i < from.dataLength(); i++) {
                while (toOffset == to.offset() + to.length()) {
                    to = to.nextInList();
                    toOffset = to.dataOffset() + to.dataLength();
                }
                Regions.segmentOf(to)
                        .set(
                                ValueLayout.JAVA_BYTE,
                                toOffset++,
                                read.get(ValueLayout.JAVA_BYTE, from.dataOffset() + i));
                copied++;
            }
        }
        Regions.clearInFlight(source);
        Regions.clearInFlight(destination);
        BufLists.appendData(destination, copied);
    }

    @Test
    @Clause("core-102")
    void shouldGatherAndScatterLikeByteArrays() {
        for (int round = 0; round < 300; round++) {
            byte[] before0 = memories[0].clone();
            byte[] expected = memories[1].clone();
            List<Buf> sources = pieces(0, 8);
            List<Buf> destinations = pieces(1, 4);
            ByteArrayOutputStream gathered = new ByteArrayOutputStream();
            for (Buf buf : sources) {
                gathered.write(before0, (int) buf.dataOffset(), (int) buf.dataLength());
            }
            Buf source = list(sources);
            Buf destination = list(destinations);
            if (gathered.size() <= BufLists.tailroom(destination)) {
                byte[] data = gathered.toByteArray();
                long[] lengths = destinations.stream().mapToLong(Buf::dataLength).toArray();
                int at = 0;
                for (int i = 0; i < lengths.length; i++) {
                    Buf buf = destinations.get(i);
                    int here = (int) Math.min(data.length - at, buf.tailroom());
                    System.arraycopy(
                            data, at, expected, (int) (buf.dataOffset() + lengths[i]), here);
                    lengths[i] += here;
                    at += here;
                }
                copy(source, destination);
                assertThat(destinations.stream().mapToLong(Buf::dataLength).toArray())
                        .isEqualTo(lengths);
            }
            assertThat(memories[0]).as("sources").isEqualTo(before0);
            assertThat(memories[1]).as("destinations").isEqualTo(expected);
            source.release();
            destination.release();
        }
        assertThat(inventory.free()).isEqualTo(inventory.total());
    }

    /** Bufs one behind the other, with gaps, each of a random shape, also empty ones. */
    private List<Buf> pieces(int mmap, int most) {
        List<Buf> bufs = new ArrayList<>();
        int count = (int) random.between(1, most);
        long stride = SIZE / count;
        for (int i = 0; i < count; i++) {
            long offset = i * stride + random.between(0, stride / 4);
            long length = random.between(0, (i + 1) * stride - offset);
            long head = random.between(0, length);
            long data = random.between(0, length - head);
            bufs.add(inventory.bufByArgs(mmaps[mmap], offset, length, offset + head, data));
        }
        return bufs;
    }

    private static Buf list(List<Buf> bufs) {
        Buf head = bufs.getFirst();
        bufs.subList(1, bufs.size()).forEach(head::chain);
        return head;
    }
}
