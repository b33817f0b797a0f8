package io.softdpu.core.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.SeededRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FixedQueueTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 8, 100})
    void shouldHoldWhatAModelHoldsInTheSameOrder(int capacity, SeededRandom random) {
        FixedQueue<Object> queue = new FixedQueue<>(capacity);
        ArrayDeque<Object> model = new ArrayDeque<>();
        for (int i = 0; i < 10_000; i++) {
            if (model.size() < capacity && (model.isEmpty() || random.nextInt(2) == 0)) {
                Object element = new Object();
                queue.add(element);
                model.add(element);
            } else {
                assertThat(queue.peek()).isSameAs(model.peek());
                assertThat(queue.remove()).isSameAs(model.remove());
            }
            assertThat(queue.size()).isEqualTo(model.size());
            assertThat(queue.isEmpty()).isEqualTo(model.isEmpty());
            assertThat(queue.isFull()).isEqualTo(model.size() == capacity);
            List<Object> all = new ArrayList<>();
            for (int index = 0; index < queue.size(); index++) {
                all.add(queue.get(index));
            }
            assertThat(all).isEqualTo(new ArrayList<>(model));
        }
    }

    @Test
    void shouldRefuseOneElementMoreThanItsCapacity() {
        FixedQueue<String> queue = new FixedQueue<>(3);
        queue.add("a");
        queue.add("b");
        queue.add("c");

        assertThatIllegalStateException()
                .isThrownBy(() -> queue.add("d"))
                .withMessage("queue is full: capacity=3");
        assertThat(queue.peek()).isEqualTo("a");
    }

    @Test
    void shouldRefuseToTakeWhatIsNotThere() {
        FixedQueue<String> queue = new FixedQueue<>(3);
        assertThatThrownBy(queue::remove).isInstanceOf(IndexOutOfBoundsException.class);
        queue.add("a");
        queue.remove();

        assertThatThrownBy(queue::peek).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(queue::remove).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> queue.get(1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldPollNothingOfAnEmptyQueue() {
        FixedQueue<String> queue = new FixedQueue<>(1);
        queue.add("a");

        assertThat(queue.poll()).isEqualTo("a");
        assertThat(queue.poll()).isNull();
    }

    @Test
    void shouldHaveNoRoomWhereItsCapacityIsZero() {
        FixedQueue<String> queue = new FixedQueue<>(0);

        assertThat(queue.isFull()).isTrue();
        assertThatIllegalStateException().isThrownBy(() -> queue.add("a"));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE, (1 << 30) + 1, Integer.MAX_VALUE})
    void shouldRefuseACapacityThatNoArrayHas(int capacity) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new FixedQueue<String>(capacity))
                .withMessage(
                        "queue cannot be created: capacity="
                                + capacity
                                + ", expected=0 to 1073741824");
    }
}
