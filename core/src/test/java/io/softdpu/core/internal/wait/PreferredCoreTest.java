package io.softdpu.core.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.Affinity;
import io.softdpu.testkit.FakeClock;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a thread leaves its processor and comes back, with a clock of the test's. */
class PreferredCoreTest {
    private final FakeClock clock = new FakeClock();
    private final List<String> moves = new ArrayList<>();
    private boolean taken;
    private boolean stuck;
    private final PreferredCore seat =
            new PreferredCore(
                    new PreferredCore.Binder() {
                        @Override
                        public void bind() {
                            if (taken) {
                                throw new FabricException(
                                        FabricException.Kind.NOT_FOUND, "no such processor");
                            }
                            moves.add("bind");
                        }

                        @Override
                        public void letGo() {
                            if (stuck) {
                                throw new FabricException(FabricException.Kind.SYSTEM, "refused");
                            }
                            moves.add("let go");
                        }
                    },
                    clock.getAsLong());

    private void yields(int quick, int slow) {
        for (int i = 0; i < quick; i++) {
            seat.yielded(clock.getAsLong(), false);
        }
        for (int i = 0; i < slow; i++) {
            seat.yielded(clock.getAsLong(), true);
        }
    }

    /** A window of enough yields, so many of them slow; its end is seen by the next quick one. */
    private void window(int slow) {
        yields(PreferredCore.ENOUGH, slow);
        clock.advanceNanos(PreferredCore.WINDOW_NANOS);
        yields(1, 0);
    }

    private void windows(int count) {
        for (int i = 0; i < count; i++) {
            window(PreferredCore.FEW);
        }
    }

    /** Slow yields until it leaves. */
    private void disturb() {
        int before = moves.size();
        while (moves.size() == before) {
            yields(0, 1);
        }
    }

    private void stayLong() {
        clock.advanceNanos(PreferredCore.LONG_STAY_NANOS);
    }

    @Test
    void shouldStayWhereSlowYieldsAreFarBetween() {
        for (int i = 0; i < 100; i++) {
            yields(PreferredCore.QUICK_IN_BETWEEN, PreferredCore.FEW);
            clock.advanceNanos(PreferredCore.WINDOW_NANOS / 4);
        }
        assertThat(moves).isEmpty();
    }

    @Test
    void shouldLeaveWhereManyYieldsOfAWindowAreSlow() {
        for (int i = 0; i < PreferredCore.TOO_MANY; i++) {
            assertThat(moves).isEmpty();
            yields(PreferredCore.QUICK_IN_BETWEEN, 1);
        }
        assertThat(moves).containsExactly("let go");
    }

    @Test
    void shouldLeaveWhereNearlyEachYieldIsSlowHoweverSeldomThereIsOne() {
        for (int i = 0; i < PreferredCore.TOO_MANY; i++) {
            assertThat(moves).isEmpty();
            clock.advanceNanos(10_000_000_000L);
            yields(PreferredCore.QUICK_IN_BETWEEN - 1, 1);
        }
        assertThat(moves).containsExactly("let go");
    }

    @Test
    void shouldComeBackAfterCalmWindowsInARow() {
        disturb();
        for (int i = 0; i < 20; i++) { // never three in a row
            windows(PreferredCore.CALM_WINDOWS - 1);
            window(PreferredCore.FEW + 1);
        }
        for (int i = 0; i < PreferredCore.CALM_WINDOWS; i++) {
            assertThat(moves).containsExactly("let go");
            windows(1);
        }
        assertThat(moves).containsExactly("let go", "bind");
        stayLong();
        disturb();
        windows(PreferredCore.CALM_WINDOWS);
        assertThat(moves).containsExactly("let go", "bind", "let go", "bind");
    }

    @Test
    void shouldNotComeBackForWindowsThatWereSleptAway() {
        disturb();
        for (int i = 0; i < 100; i++) {
            clock.advanceNanos(PreferredCore.WINDOW_NANOS);
            yields(1, 0);
        }
        assertThat(moves).containsExactly("let go");
    }

    @Test
    void shouldAskForMoreCalmAfterEachShortStay() {
        disturb();
        windows(PreferredCore.CALM_WINDOWS);
        int needed = PreferredCore.CALM_WINDOWS;
        for (int stay = 0; stay < 6; stay++) {
            moves.clear();
            disturb();
            needed = Math.min(2 * needed, PreferredCore.MOST_CALM_WINDOWS);
            windows(needed - 1);
            assertThat(moves).containsExactly("let go");
            windows(1);
            assertThat(moves).containsExactly("let go", "bind");
        }
        assertThat(needed).isEqualTo(PreferredCore.MOST_CALM_WINDOWS);
    }

    @Test
    void shouldGiveUpAProcessorThatWasTakenFromTheProgram() {
        disturb();
        taken = true;
        windows(2 * PreferredCore.CALM_WINDOWS);
        taken = false;
        windows(2 * PreferredCore.CALM_WINDOWS);
        assertThat(moves).containsExactly("let go");
    }

    @Test
    void shouldTryAgainToLeaveWhereThatFailed() {
        stuck = true;
        yields(0, PreferredCore.TOO_MANY);
        assertThat(moves).isEmpty();
        stuck = false;
        disturb();
        assertThat(moves).containsExactly("let go");
    }

    @Test
    void shouldLetGoForGoodWhenItIsClosed() {
        seat.close();
        windows(2 * PreferredCore.CALM_WINDOWS);
        assertThat(moves).containsExactly("let go");
    }

    @Test
    void shouldMoveTheThreadItself() throws Exception {
        int last = Affinity.allowed().length() - 1;
        List<BitSet> seen = new ArrayList<>();
        Thread thread =
                Thread.ofPlatform()
                        .start(() -> {
                            Affinity.pinCurrentThread(last);
                            PreferredCore own = PreferredCore.ofCurrentThread(last);
                            long now = System.nanoTime();
                            for (int i = 0; i < PreferredCore.TOO_MANY; i++) {
                                own.yielded(now, true);
                            }
                            seen.add(Affinity.ofCurrentThread());
                            long end = now + 4 * PreferredCore.WINDOW_NANOS;
                            for (; now <= end; now += PreferredCore.WINDOW_NANOS / 200) {
                                own.yielded(now, false);
                            }
                            seen.add(Affinity.ofCurrentThread());
                            own.close();
                            seen.add(Affinity.ofCurrentThread());
                        });
        thread.join();
        BitSet one = new BitSet();
        one.set(last);
        assertThat(seen).containsExactly(Affinity.allowed(), one, Affinity.allowed());
    }
}
