package io.softdpu.core.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.Affinity;
import io.softdpu.testkit.FakeClock;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Conditions for pinning and unpinning, with a simulated clock. */
class SoftAffinityTest {
    private final FakeClock clock = new FakeClock();
    private final List<String> moves = new ArrayList<>();
    private boolean taken;
    private boolean stuck;
    private final SoftAffinity affinity =
            new SoftAffinity(
                    new SoftAffinity.Pinning() {
                        @Override
                        public void pin() {
                            if (taken) {
                                throw new FabricException(
                                        FabricException.Kind.NOT_FOUND, "no such processor");
                            }
                            moves.add("pin");
                        }

                        @Override
                        public void unpin() {
                            if (stuck) {
                                throw new FabricException(FabricException.Kind.SYSTEM, "refused");
                            }
                            moves.add("unpin");
                        }
                    },
                    clock.getAsLong());

    private void yields(int quick, int slow) {
        for (int i = 0; i < quick; i++) {
            affinity.yielded(clock.getAsLong(), false);
        }
        for (int i = 0; i < slow; i++) {
            affinity.yielded(clock.getAsLong(), true);
        }
    }

    /** A window of enough yields, so many of them slow; its end is seen by the next quick one. */
    private void window(int slow) {
        yields(SoftAffinity.MIN_WINDOW_YIELDS, slow);
        clock.advanceNanos(SoftAffinity.WINDOW_NANOS);
        yields(1, 0);
    }

    private void windows(int count) {
        for (int i = 0; i < count; i++) {
            window(SoftAffinity.CALM_SLOW_YIELDS);
        }
    }

    /** Slow yields until it leaves. */
    private void disturb() {
        int before = moves.size();
        while (moves.size() == before) {
            yields(0, 1);
        }
    }

    @Test
    void shouldStayWhereSlowYieldsAreFarBetween() {
        for (int i = 0; i < 100; i++) {
            yields(SoftAffinity.QUICK_YIELDS_BETWEEN, SoftAffinity.CALM_SLOW_YIELDS);
            clock.advanceNanos(SoftAffinity.WINDOW_NANOS / 4);
        }
        assertThat(moves).isEmpty();
    }

    @Test
    void shouldLeaveWhereManyYieldsOfAWindowAreSlow() {
        for (int i = 0; i < SoftAffinity.MAX_SLOW_YIELDS; i++) {
            assertThat(moves).isEmpty();
            yields(SoftAffinity.QUICK_YIELDS_BETWEEN, 1);
        }
        assertThat(moves).containsExactly("unpin");
    }

    @Test
    void shouldLeaveWhereNearlyEachYieldIsSlowHoweverSeldomThereIsOne() {
        for (int i = 0; i < SoftAffinity.MAX_SLOW_YIELDS; i++) {
            assertThat(moves).isEmpty();
            clock.advanceNanos(10_000_000_000L);
            yields(SoftAffinity.QUICK_YIELDS_BETWEEN - 1, 1);
        }
        assertThat(moves).containsExactly("unpin");
    }

    @Test
    void shouldComeBackAfterCalmWindowsInARow() {
        disturb();
        for (int i = 0; i < 20; i++) { // never enough in a row
            windows(SoftAffinity.CALM_WINDOWS - 1);
            window(SoftAffinity.CALM_SLOW_YIELDS + 1);
        }
        for (int i = 0; i < SoftAffinity.CALM_WINDOWS; i++) {
            assertThat(moves).containsExactly("unpin");
            windows(1);
        }
        assertThat(moves).containsExactly("unpin", "pin");
        disturb();
        windows(SoftAffinity.CALM_WINDOWS);
        assertThat(moves).containsExactly("unpin", "pin", "unpin", "pin");
    }

    @Test
    void shouldNotComeBackForWindowsThatWereSleptAway() {
        disturb();
        for (int i = 0; i < 100; i++) {
            clock.advanceNanos(SoftAffinity.WINDOW_NANOS);
            yields(1, 0);
        }
        assertThat(moves).containsExactly("unpin");
    }

    @Test
    void shouldGiveUpAProcessorThatWasTakenFromTheProgram() {
        disturb();
        taken = true;
        windows(2 * SoftAffinity.CALM_WINDOWS);
        taken = false;
        windows(2 * SoftAffinity.CALM_WINDOWS);
        assertThat(moves).containsExactly("unpin");
    }

    @Test
    void shouldTryAgainToLeaveWhereThatFailed() {
        stuck = true;
        yields(0, SoftAffinity.MAX_SLOW_YIELDS);
        assertThat(moves).isEmpty();
        stuck = false;
        disturb();
        assertThat(moves).containsExactly("unpin");
    }

    @Test
    void shouldStayUnpinnedAfterItIsClosed() {
        affinity.close();
        windows(2 * SoftAffinity.CALM_WINDOWS);
        assertThat(moves).containsExactly("unpin");
    }

    @Test
    void shouldMoveTheThreadItself() throws Exception {
        int last = Affinity.allowed().length() - 1;
        List<BitSet> seen = new ArrayList<>();
        Thread thread =
                Thread.ofPlatform()
                        .start(() -> {
                            Affinity.pinCurrentThread(last);
                            SoftAffinity own = SoftAffinity.ofCurrentThread(last);
                            long now = System.nanoTime();
                            for (int i = 0; i < SoftAffinity.MAX_SLOW_YIELDS; i++) {
                                own.yielded(now, true);
                            }
                            seen.add(Affinity.ofCurrentThread());
                            long end =
                                    now
                                            + (SoftAffinity.CALM_WINDOWS + 1)
                                                    * SoftAffinity.WINDOW_NANOS;
                            for (; now <= end; now += SoftAffinity.WINDOW_NANOS / 200) {
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
