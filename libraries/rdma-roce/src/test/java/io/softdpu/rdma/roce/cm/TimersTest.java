package io.softdpu.rdma.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.FakeClock;
import io.softdpu.testkit.SeededRandom;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Deadlines of many connections, compared with a plain list. */
class TimersTest {
    private static final int TIMERS = 40;

    @Test
    void shouldHaveTheEarliestDeadlineFirstAfterEachChange(SeededRandom random) {
        FakeClock clock = new FakeClock(); // its time overflows within these deadlines
        Timers timers = new Timers();
        List<CmConnection> connections = new ArrayList<>();
        CmEnd end = new CmEnd(1, clock, random);
        for (int i = 0; i < 8; i++) {
            connections.add(end.export());
        }
        List<CmTimer> all = new ArrayList<>();
        for (int i = 0; i < TIMERS; i++) {
            all.add(new CmTimer(connections.get(i % 8), timers, CmEnd.LIMITS));
        }
        List<CmTimer> set = new ArrayList<>();
        for (int round = 0; round < 10_000; round++) {
            CmTimer timer = all.get(random.nextInt(TIMERS));
            if (random.chance(0.4)) {
                timer.clear();
                set.remove(timer);
            } else {
                timer.limit(clock.nowNanos(), random.nextLong(2 * CmEnd.SECOND));
                if (!set.contains(timer)) {
                    set.add(timer);
                }
            }
            assertThat(timers.size()).isEqualTo(set.size());
            CmTimer first = timers.first();
            assertThat(first == null).isEqualTo(set.isEmpty());
            for (CmTimer each : set) {
                assertThat(each.deadline - first.deadline).isNotNegative();
            }
            assertThat(first == null || set.contains(first)).isTrue();
        }
        for (int left = set.size(); left > 0; left--) {
            CmTimer first = timers.first();
            assertThat(set.remove(first)).as("each comes once").isTrue();
            first.clear();
            assertThat(timers.size()).isEqualTo(left - 1);
        }
        assertThat(timers.first()).isNull();
    }

    @Test
    void shouldRepeatUntilTheEndOfTheWait() {
        FakeClock clock = new FakeClock();
        Timers timers = new Timers();
        CmEnd end = new CmEnd(1, clock, new SeededRandom(1));
        CmTimer timer = new CmTimer(end.export(), timers, CmEnd.LIMITS);
        long now = clock.nowNanos();
        assertThat(timer.due(now)).isNull();
        timer.limit(now, 120 * CmEnd.MILLI);
        assertThat(timer.deadline).isEqualTo(now + 120 * CmEnd.MILLI);
        timer.repeat(FarEnd.linux(end).rtu(1), now);
        assertThat(timer.deadline).isEqualTo(now);
        assertThat(timer.due(now)).isNotNull();
        assertThat(timer.due(now)).as("not twice").isNull();
        assertThat(timer.deadline).isEqualTo(now + 50 * CmEnd.MILLI);
        now += 50 * CmEnd.MILLI;
        assertThat(timer.due(now - 1)).isNull();
        assertThat(timer.due(now)).isNotNull();
        assertThat(timer.deadline).as("the end is first").isEqualTo(now + 70 * CmEnd.MILLI);
        assertThat(timer.isOver(timer.deadline - 1)).isFalse();
        assertThat(timer.isOver(timer.deadline)).isTrue();
        timer.stopRepeating();
        assertThat(timer.deadline).isEqualTo(now + 70 * CmEnd.MILLI);
        assertThat(timers.first()).isSameAs(timer);
        timer.clear();
        assertThat(timers.first()).isNull();
        assertThat(timer.isOver(now + CmEnd.SECOND)).isFalse();
    }
}
