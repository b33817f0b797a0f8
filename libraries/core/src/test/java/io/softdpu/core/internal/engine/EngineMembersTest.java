package io.softdpu.core.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.internal.wait.Waitable;
import io.softdpu.core.spi.graph.CallbackFailures;
import io.softdpu.core.spi.graph.EngineMember;
import io.softdpu.core.spi.graph.GraphEngine;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Situations of an engine, by which a wait tells whether a short spin may succeed, and what is in
 * flight.
 */
class EngineMembersTest {
    private final EngineMembers members = new EngineMembers(new CallbackFailures());
    private final List<Member> contexts = new ArrayList<>();

    /** Has work when told so. */
    private static final class Member extends EngineMember {
        boolean work;

        void count(int tasks) {
            addInFlight(tasks);
        }

        @Override
        public String describe() {
            return "member";
        }

        @Override
        public String describeWork() {
            return "work=" + work;
        }

        @Override
        public @Nullable GraphEngine engine() {
            return null;
        }

        @Override
        public boolean wasStarted() {
            return true;
        }

        @Override
        public boolean awaitsEvents() {
            return false;
        }

        @Override
        public boolean isEventDrivenSupported() {
            return true;
        }

        @Override
        public boolean progress() {
            boolean worked = work;
            work = false;
            return worked;
        }

        @Override
        public boolean arm() {
            return work;
        }

        @Override
        public void disarm() {
            // Holds nothing.
        }
    }

    private void add(int count) {
        for (int i = 0; i < count; i++) {
            contexts.add(new Member());
            members.add(contexts.getLast());
        }
    }

    private int after(int... working) {
        for (int context : working) {
            contexts.get(context).work = true;
        }
        assertThat(members.progress()).isEqualTo(working.length > 0);
        return members.situation();
    }

    @Test
    void shouldTellApartWhichContextsHadWorkInTheLastTwoPassesWithWork() {
        add(3);
        Set<Integer> situations = new HashSet<>();
        int[][] passes = {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}};
        for (int[] before : passes) {
            for (int[] last : passes) {
                after(before);
                int situation = after(last);
                assertThat(situation).isBetween(0, Waitable.SITUATIONS - 1);
                situations.add(situation);
            }
        }
        assertThat(situations).hasSize(passes.length * passes.length);
    }

    @Test
    void shouldBeInTheSameSituationAfterTheSamePasses() {
        add(2);
        after(1);
        after(0);
        int situation = after(1);
        after(0, 1);
        after(0);
        assertThat(after(1)).isEqualTo(situation);
    }

    @Test
    void shouldStayInASituationWithoutWork() {
        add(2);
        after(1);
        int situation = after(0);
        assertThat(after()).isEqualTo(situation);
        assertThat(after()).isEqualTo(situation);
    }

    @Test
    void shouldCountWhatIsInFlightInThoseThatItHas() {
        add(9);
        for (int i = 0; i < 9; i++) {
            contexts.get(i).count(1 << i);
        }
        assertThat(members.inFlight()).isEqualTo(511);
        Member stopped = contexts.get(3);
        members.remove(stopped);
        assertThat(members.inFlight()).isEqualTo(503);
        members.remove(stopped);
        members.closeGaps();
        assertThat(members.inFlight()).isEqualTo(503);
        contexts.get(0).count(-1);
        assertThat(members.inFlight()).isEqualTo(502);
        members.add(stopped);
        assertThat(members.inFlight()).isEqualTo(510);
    }

    @Test
    void shouldKeepToItsSituationsWithMoreContextsThanItTellsApart() {
        add(64);
        for (int i = 0; i < 64; i++) {
            assertThat(after(i)).isBetween(0, Waitable.SITUATIONS - 1);
        }
    }
}
