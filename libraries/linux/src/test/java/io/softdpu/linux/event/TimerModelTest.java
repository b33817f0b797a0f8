package io.softdpu.linux.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.SeededRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Timer queue compared with a sorting model: ten thousand timers, set and cancelled at random. */
final class TimerModelTest {
    private static final int TIMERS = 10_000;
    private static final int STEPS = 60_000;
    private static final long RANGE = 5_000;

    /** Entry of the model for a timer that is set. */
    private record Entry(int timer, long aheadNanos, long order) {}

    private final List<Timer> timers = new ArrayList<>();
    private final Map<Timer, Integer> numbers = new HashMap<>();
    private final Map<Integer, Entry> model = new HashMap<>();
    private final TimerQueue queue = new TimerQueue();

    /** From there on deadlines are counted: also where nanoTime overflows among them. */
    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - RANGE, -RANGE})
    void shouldFindTheSameTimersInTheSameOrder(long origin, SeededRandom random) {
        try (Poller poller = new Poller()) {
            for (int i = 0; i < TIMERS; i++) {
                Timer timer = new Timer(poller, () -> {});
                timers.add(timer);
                numbers.put(timer, i);
            }
        }
        for (int step = 0; step < STEPS; step++) {
            int number = random.nextInt(TIMERS);
            Timer timer = timers.get(number);
            if (random.chance(0.7)) {
                long ahead = random.nextLong(2 * RANGE); // many are equal
                queue.set(timer, origin + ahead);
                model.put(number, new Entry(number, ahead, step));
            } else {
                queue.cancel(timer);
                model.remove(number);
            }
            assertThat(timer.isSet()).isEqualTo(model.containsKey(number));
            if (step % 10_000 == 9_999) {
                checkDue(origin, random.nextLong(2 * RANGE), random);
            }
        }
        checkDue(origin, 2 * RANGE, random);
        assertThat(queue.isEmpty()).isTrue();
        assertThat(model).isEmpty();
    }

    private void checkDue(long origin, long aheadNanos, SeededRandom random) {
        List<Entry> expected =
                model.values().stream()
                        .filter(entry -> entry.aheadNanos() <= aheadNanos)
                        .sorted(
                                Comparator.comparingLong(Entry::aheadNanos)
                                        .thenComparingLong(Entry::order))
                        .toList();
        queue.takeDue(origin + aheadNanos);
        List<Integer> found = new ArrayList<>();
        List<Integer> left = new ArrayList<>();
        int cancelled =
                expected.isEmpty() ? -1 : expected.get(random.nextInt(expected.size())).timer();
        for (Entry entry : expected) {
            if (entry.timer() != cancelled) {
                left.add(entry.timer());
            }
            model.remove(entry.timer());
        }
        if (cancelled >= 0) {
            queue.cancel(timers.get(cancelled)); // as a handler of the same turn does
        }
        Timer due;
        while ((due = queue.nextDue()) != null) {
            found.add(numbers.get(due));
        }
        assertThat(found).isEqualTo(left);
        if (!queue.isEmpty()) {
            assertThat(queue.first().deadlineNanos - origin)
                    .isEqualTo(
                            model.values().stream()
                                    .mapToLong(Entry::aheadNanos)
                                    .min()
                                    .orElseThrow());
        }
        assertThat(queue.isEmpty()).isEqualTo(model.isEmpty());
    }
}
