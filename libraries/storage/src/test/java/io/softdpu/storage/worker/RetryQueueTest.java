package io.softdpu.storage.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Order of tasks that a full queue rejects. */
class RetryQueueTest {
    private static final int TASKS = 4;

    private final Counter refused = new Counter();
    private final List<Integer> taken = new ArrayList<>();
    private int room;
    private final RetryQueue queue = new RetryQueue(TASKS, this::trySubmit, refused);

    private boolean trySubmit(int index) {
        if (room == 0) {
            return false;
        }
        room--;
        return taken.add(index);
    }

    @Test
    void shouldSubmitAtOnceWhatThereIsRoomFor() {
        room = 1;

        queue.submit(3);

        assertThat(taken).containsExactly(3);
        assertThat(queue.isEmpty()).isTrue();
        assertThat(refused.get()).isZero();
    }

    @Test
    void shouldCountEachTaskThatHadToWaitOnceHoweverOftenItIsRetried() {
        queue.submit(2);
        queue.submit(0);
        queue.retry();
        queue.retry();
        room = 3;
        queue.retry();
        queue.submit(1);

        assertThat(refused.get()).isEqualTo(2);
        assertThat(taken).containsExactly(2, 0, 1);
    }

    @Test
    void shouldKeepTheOrderWhereRoomComesBack() {
        queue.submit(2);
        room = 1;
        queue.submit(0); // behind the first, though there is room
        assertThat(taken).isEmpty();

        queue.retry();

        assertThat(taken).containsExactly(2);
        assertThat(queue.isEmpty()).isFalse();
        room = 2;
        queue.retry();
        assertThat(taken).containsExactly(2, 0);
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void shouldGoRoundItsArray() {
        List<Integer> submitted = new ArrayList<>();
        for (int i = 0; i < 5 * TASKS; i++) {
            queue.submit(i % TASKS);
            submitted.add(i % TASKS);
            if (i >= TASKS - 1) {
                room = 1;
                queue.retry();
            }
        }
        room = TASKS;
        queue.retry();

        assertThat(taken).isEqualTo(submitted);
    }

    @Test
    void shouldRefuseATaskThatWaitsAlready() {
        for (int i = 0; i < TASKS; i++) {
            queue.submit(i);
        }

        assertThatThrownBy(() -> queue.submit(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("index=1");
    }
}
