package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Copies between lists of random shapes, compared with copies between byte arrays. */
@SoftDpuTest(sanitized = false)
class DmaShapesTest {
    private static final int ROUNDS = 150;
    private static final int SIZE = 2 << 20;
    private static final int MAX_ELEMENT_BYTES = 40_000;

    private DmaFixture fixture;
    private Mmap reads;
    private Mmap writes;

    /** One element: where it begins, and its headroom, data and room behind it. */
    private record Shape(int offset, int head, int data, int tail) {
        int length() {
            return head + data + tail;
        }
    }

    @BeforeEach
    void open(SoftDpu card) {
        fixture = new DmaFixture(card.dpuDevice()).start(1);
        reads = fixture.local(SIZE);
        writes = fixture.local(SIZE);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    @Test
    @Clause({"core-103", "core-104", "core-105"})
    @Clause({"core-099", "core-102"})
    void shouldGatherDataroomsAndScatterIntoTailrooms(SeededRandom random) {
        for (int round = 0; round < ROUNDS; round++) {
            int most = random.oneOf(1, 2, 5, fixture.dma.capabilities().maxBufferListLength());
            List<Shape> from = shapes(random, most);
            List<Shape> to = shapes(random, most);
            run(random, from, to, Text.format("round %d, seed %d", round, random.seed()));
        }
    }

    private void run(SeededRandom random, List<Shape> from, List<Shape> to, String what) {
        random.fill(reads.segment());
        random.fill(writes.segment());
        byte[] source = DmaFixture.bytes(reads.segment(), 0, SIZE);
        byte[] model = DmaFixture.bytes(writes.segment(), 0, SIZE);
        long[] lengths = to.stream().mapToLong(Shape::data).toArray();
        boolean possible = copyModel(source, from, model, to, lengths);

        List<Buf> sources = bufs(random, reads, from);
        List<Buf> destinations = bufs(random, writes, to);
        DmaMemcpyTask task =
                fixture.dma.allocateMemcpy(sources.getFirst(), destinations.getFirst());
        Status submitted = task.trySubmit();
        assertThat(submitted).as(what).isEqualTo(possible ? Status.SUCCESS : Status.INVALID_VALUE);
        fixture.awaitEnd();
        assertThat(task.status()).as(what).isEqualTo(Status.SUCCESS);
        for (int i = 0; i < to.size(); i++) {
            assertThat(destinations.get(i).dataLength())
                    .as("%s, element %d", what, i)
                    .isEqualTo(lengths[i]);
        }
        assertThat(DmaFixture.bytes(writes.segment(), 0, SIZE)).as(what).isEqualTo(model);
        assertThat(DmaFixture.bytes(reads.segment(), 0, SIZE)).as(what).isEqualTo(source);
        task.free();
        sources.getFirst().release();
        destinations.getFirst().release();
        assertThat(fixture.inventory.free()).as(what).isEqualTo(fixture.inventory.total());
    }

    /** Whether it can be done; if so, the model and the lengths are as they have to be then. */
    private static boolean copyModel(
            byte[] source, List<Shape> from, byte[] model, List<Shape> to, long[] lengths) {
        ByteArrayOutputStream gathered = new ByteArrayOutputStream();
        from.forEach(s -> gathered.write(source, s.offset + s.head, s.data));
        byte[] data = gathered.toByteArray();
        if (data.length == 0 || data.length > to.stream().mapToInt(Shape::tail).sum()) {
            return false;
        }
        int done = 0;
        for (int i = 0; i < to.size(); i++) {
            Shape s = to.get(i);
            int here = Math.min(s.tail, data.length - done);
            System.arraycopy(data, done, model, s.offset + s.head + s.data, here);
            lengths[i] += here;
            done += here;
        }
        return true;
    }

    /** Elements that do not overlap: those of a destination must not. */
    private static List<Shape> shapes(SeededRandom random, int most) {
        int elements = (int) random.between(1, most);
        int room = Math.min(MAX_ELEMENT_BYTES, SIZE / elements / 3);
        List<Shape> shapes = new ArrayList<>();
        int at = 0;
        for (int i = 0; i < elements; i++) {
            at += (int) random.between(0, 100);
            Shape shape =
                    new Shape(
                            at,
                            part(random, room / 4),
                            part(random, room),
                            part(random, room + room / 2));
            shapes.add(shape);
            at += shape.length();
        }
        return shapes;
    }

    private static int part(SeededRandom random, int most) {
        return random.chance(0.2) ? 0 : (int) random.between(1, most);
    }

    /** A list of these elements, of lists that were chained in any order. */
    private List<Buf> bufs(SeededRandom random, Mmap mmap, List<Shape> shapes) {
        List<Buf> bufs = new ArrayList<>();
        for (Shape s : shapes) {
            Buf buf =
                    fixture.inventory.bufByArgs(
                            mmap, s.offset, s.length(), s.offset + s.head, s.data);
            bufs.add(buf);
        }
        List<Buf> heads = new ArrayList<>(bufs);
        while (heads.size() > 1) {
            int at = random.nextInt(heads.size() - 1);
            heads.get(at).chain(heads.remove(at + 1));
        }
        return bufs;
    }
}
