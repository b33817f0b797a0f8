package io.softdpu.rdma.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.Await;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;

/** Elements of a local list, and the position in it. */
class LocalListTest {
    private final LocalList list = new LocalList(3);

    @Test
    void shouldMoveThroughTheElementsAndLeaveOutEmptyOnes() {
        MemorySegment one = MemorySegment.ofArray(new byte[10]);
        MemorySegment two = MemorySegment.ofArray(new byte[20]);
        list.add(one, 2, 5);
        list.add(one, 0, 0);
        list.add(two, 7, 4);
        list.rewind();
        assertThat(list.count()).isEqualTo(2);
        assertThat(list.piece()).isSameAs(one);
        assertThat(list.pieceOffset()).isEqualTo(2);
        list.advance(3);
        assertThat(list.pieceOffset()).isEqualTo(5);
        assertThat(list.pieceBytes()).isEqualTo(2);
        list.advance(2);
        assertThat(list.piece()).isSameAs(two);
        assertThat(list.pieceOffset()).isEqualTo(7);
        list.advance(4);
        assertThat(list.pieceBytes()).isZero();
        assertThat(list.piece().byteSize()).isZero();
    }

    @Test
    void shouldMoveToAByteOfTheList() {
        MemorySegment one = MemorySegment.ofArray(new byte[10]);
        MemorySegment two = MemorySegment.ofArray(new byte[20]);
        list.add(one, 2, 5);
        list.add(two, 7, 4);
        list.position(8);
        assertThat(list.piece()).isSameAs(two);
        assertThat(list.pieceOffset()).isEqualTo(10);
        assertThat(list.pieceBytes()).isEqualTo(1);
        list.position(4);
        assertThat(list.piece()).as("back").isSameAs(one);
        assertThat(list.pieceOffset()).isEqualTo(6);
        assertThat(list.pieceBytes()).isEqualTo(1);
        list.position(5);
        assertThat(list.piece()).as("at the beginning of an element").isSameAs(two);
        assertThat(list.pieceOffset()).isEqualTo(7);
        list.position(9);
        assertThat(list.pieceBytes()).as("at the end").isZero();
        list.position(0);
        assertThat(list.pieceOffset()).isEqualTo(2);
        assertThatThrownBy(() -> list.position(10))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("offsetBytes=10, sizeBytes=9");
    }

    @Test
    void shouldTellNothingBehindTheLastElement() {
        MemorySegment memory = MemorySegment.ofArray(new byte[10]);
        list.add(memory, 1, 2);
        list.add(memory, 3, 4);
        list.clear();
        list.add(memory, 5, 5);
        assertThat(list.segment(1).byteSize()).isZero();
        assertThat(list.offset(1)).isZero();
        assertThat(list.length(1)).isZero();
        assertThat(list.length(0)).isEqualTo(5);
    }

    @Test
    void shouldReferToNoMemoryOnceReleased() {
        WeakReference<byte[]> memory = fill();
        list.release();
        assertThat(list.count()).isZero();
        assertThat(list.pieceBytes()).isZero();
        Await.until(
                "the memory is collected",
                () -> {
                    System.gc();
                    return memory.refersTo(null);
                });
    }

    /** Two lists after another, the second one shorter. */
    private WeakReference<byte[]> fill() {
        byte[] bytes = new byte[10];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        list.add(MemorySegment.ofArray(new byte[1]), 0, 1);
        list.add(memory, 0, 10);
        list.clear();
        list.add(MemorySegment.ofArray(new byte[1]), 0, 1);
        list.rewind();
        return new WeakReference<>(bytes);
    }
}
