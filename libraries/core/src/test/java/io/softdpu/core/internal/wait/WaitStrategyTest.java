package io.softdpu.core.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.FakeClock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Wait strategies step by step, with a simulated clock and yield. */
class WaitStrategyTest {
    private static final long SECOND = 1_000_000_000L;

    private final FakeClock clock = new FakeClock();
    private final Script script = new Script();
    private long yieldNanos = 10_000;
    private final WaitStrategy strategy = new YieldSleepWait(null, clock, this::yielded);

    private void yielded() {
        script.steps.add("yield");
        clock.advanceNanos(yieldNanos);
    }

    private final class Script implements Waitable {
        final List<String> steps = new ArrayList<>();
        BooleanSupplier progress = () -> false;
        boolean ready;
        boolean woken;
        long sleepNanos = SECOND;

        @Override
        public boolean progress() {
            steps.add("progress");
            return progress.getAsBoolean();
        }

        @Override
        public boolean takeWake() {
            boolean taken = woken;
            woken = false;
            return taken;
        }

        @Override
        public boolean arm() {
            steps.add("arm");
            return ready;
        }

        @Override
        public void disarm() {
            steps.add("disarm");
        }

        @Override
        public void sleep(long timeoutNanos) {
            steps.add("sleep");
            clock.advanceNanos(Math.min(sleepNanos, timeoutNanos));
        }
    }

    @Test
    void shouldNotEvenLookAtTheClockWhileThereIsWork() {
        script.progress = () -> true;
        assertThat(strategy.await(script, SECOND)).isTrue();
        assertThat(script.steps).containsExactly("progress");
    }

    @Test
    void shouldLookOnceWithoutATimeout() {
        assertThat(strategy.await(script, 0)).isFalse();
        assertThat(script.steps).containsExactly("progress");
    }

    @Test
    void shouldYieldForAHundredMicrosecondsThenArmLookAgainSleepAndDisarm() {
        assertThat(strategy.await(script, SECOND)).isFalse();
        List<String> expected = new ArrayList<>(List.of("progress"));
        for (int i = 0; i < 10; i++) {
            expected.addAll(List.of("yield", "progress"));
        }
        expected.addAll(List.of("arm", "progress", "sleep", "disarm", "progress"));
        assertThat(script.steps.subList(0, expected.size())).isEqualTo(expected);
    }

    @Test
    void shouldSeeWhatCameBetweenTheLastLookAndTheArming() {
        script.progress = () -> script.steps.contains("arm");
        assertThat(strategy.await(script, SECOND)).isTrue();
        assertThat(script.steps).endsWith("arm", "progress", "disarm").doesNotContain("sleep");
    }

    @Test
    void shouldNotSleepWhenArmingFindsWork() {
        script.ready = true;
        script.progress = () -> script.steps.contains("disarm");
        assertThat(strategy.await(script, SECOND)).isTrue();
        assertThat(script.steps).endsWith("arm", "progress", "disarm", "progress");
        assertThat(script.steps).doesNotContain("sleep");
    }

    @Test
    void shouldDisarmEvenIfTheLookThrows() {
        script.progress =
                () -> {
                    if (script.steps.contains("arm")) {
                        throw new IllegalStateException("callback");
                    }
                    return false;
                };
        org.assertj.core.api.Assertions.assertThatThrownBy(() -> strategy.await(script, SECOND))
                .hasMessage("callback");
        assertThat(script.steps).endsWith("arm", "progress", "disarm");
    }

    @Test
    void shouldSleepAtOnceForManySpellsAfterASlowYield() {
        yieldNanos = SleepingWait.SLOW_YIELD_NANOS + 1;
        strategy.await(script, yieldNanos / 2);
        assertThat(script.steps.stream().filter("yield"::equals)).hasSize(1);
        script.sleepNanos = 1;
        script.steps.clear();
        strategy.await(script, SleepingWait.YIELD_BACKOFF_WAITS);
        assertThat(script.steps).doesNotContain("yield");
        assertThat(script.steps.stream().filter("sleep"::equals))
                .hasSize(SleepingWait.YIELD_BACKOFF_WAITS);
        yieldNanos = 10_000;
        strategy.await(script, SECOND);
        assertThat(script.steps).as("then it is tried again").contains("yield");
    }

    /** A relay's waits: its target answers soon, its client asks again much later. */
    @Test
    void shouldYieldInShortWaitsAndSleepAtOnceInLongOnesThatTheyAlternateWith() {
        for (int i = 0; i < 20; i++) {
            waitFor(30_000);
            waitFor(2_000_000);
        }
        assertThat(waitFor(30_000)).contains("yield").doesNotContain("sleep");
        assertThat(waitFor(2_000_000)).contains("sleep").doesNotContain("yield");
        assertThat(waitFor(30_000)).contains("yield").doesNotContain("sleep");
    }

    @Test
    void shouldYieldAgainSoonAfterLongWaitsHaveBecomeShort() {
        for (int i = 0; i < 20; i++) {
            waitFor(2_000_000);
        }
        assertThat(waitFor(150_000)).as("a peer that slept, too").doesNotContain("yield");
        int waits = 1;
        while (!waitFor(150_000).contains("yield")) {
            assertThat(++waits).isLessThan(6);
        }
    }

    @Test
    void shouldGoOnYieldingWhereAWaitIsLongNowAndThen() {
        for (int i = 0; i < 200; i++) {
            assertThat(waitFor(i % 6 == 0 ? 2_000_000 : 30_000)).contains("yield");
            assertThat(waitFor(30_000)).contains("yield");
        }
    }

    @Test
    void shouldLearnNothingFromWaitsThatBringNothing() {
        script.progress = () -> false;
        for (int i = 0; i < 20; i++) {
            assertThat(strategy.await(script, SECOND)).isFalse();
        }
        assertThat(waitFor(30_000)).contains("yield");
    }

    /** The steps of one wait that something ends after this time. */
    private List<String> waitFor(long nanos) {
        script.steps.clear();
        long end = clock.nowNanos() + nanos;
        script.progress = () -> clock.nowNanos() >= end;
        script.sleepNanos = nanos;
        assertThat(strategy.await(script, SECOND)).isTrue();
        return script.steps;
    }

    @Test
    void shouldLookAtOnceWhereAMessageIsExpectedSoon() {
        assertThat(shortWait(1)).isEqualTo(1);
        assertThat(shortWait(ShortSpin.SHORT_SPIN_POLLS)).isEqualTo(ShortSpin.SHORT_SPIN_POLLS);
        assertThat(script.steps).containsOnly("progress");
        assertThat(shortWait(ShortSpin.SHORT_SPIN_POLLS + 2)).as("then as ever").isEqualTo(65);
        assertThat(script.steps).contains("yield");
    }

    @Test
    void shouldOnlyLookOnceWithoutATimeoutWhateverIsExpected() {
        assertThat(strategy.awaitSoon(script, 0)).isFalse();
        assertThat(script.steps).containsExactly("progress");
    }

    @Test
    void shouldEndWhenItIsWokenAlsoWhereAMessageIsExpectedSoon() {
        script.woken = true;
        assertThat(strategy.awaitSoon(script, SECOND)).isFalse();
        assertThat(script.steps).containsOnly("progress");
    }

    @Test
    void shouldStopLookingAtOnceWhereThatIsInVainAndTryAgainLater() {
        int series = ShortSpin.MAX_SPIN_CREDIT / ShortSpin.SPIN_MISS_COST;
        for (int i = 0; i < series; i++) {
            assertThat(shortWait(100)).as("series %d", i).isGreaterThan(ShortSpin.SHORT_SPIN_POLLS);
        }
        requireWaitsWithoutSpin();
        assertThat(shortWait(100)).as("another try").isGreaterThan(ShortSpin.SHORT_SPIN_POLLS);
        requireWaitsWithoutSpin();
        for (int i = 0; i <= ShortSpin.MAX_SPIN_CREDIT; i++) {
            assertThat(shortWait(3)).isEqualTo(3);
        }
        for (int i = 0; i < series; i++) {
            assertThat(shortWait(100)).as("as at first").isGreaterThan(ShortSpin.SHORT_SPIN_POLLS);
        }
        requireWaitsWithoutSpin();
    }

    @Test
    void shouldGoOnLookingAtOnceWhereFourOfFiveWaitsEndSo() {
        for (int wait = 0; wait < 10_000; wait++) {
            int needed = wait % 5 == 0 ? 100 : 3;
            assertThat(shortWait(needed)).isGreaterThanOrEqualTo(Math.min(needed, 65));
            assertThat(script.steps.contains("yield")).isEqualTo(needed == 100);
        }
    }

    @Test
    void shouldSoonStopLookingAtOnceWhereEachSecondWaitIsInVain() {
        int waits = 0;
        do {
            assertThat(++waits).isLessThan(100);
            shortWait(3);
        } while (shortWait(100) > ShortSpin.SHORT_SPIN_POLLS);
    }

    /** Messages that have arrived before the spin neither earn nor spend credit. */
    @Test
    void shouldNotEarnCreditByMessagesThatHaveArrivedBefore() {
        int waits = 0;
        do {
            assertThat(++waits).isLessThan(10);
            for (int i = 0; i < 100; i++) {
                assertThat(shortWait(1)).isEqualTo(1);
            }
        } while (shortWait(100) > ShortSpin.SHORT_SPIN_POLLS);
    }

    /**
     * Short waits that looks have ended count as short: a long one now and then changes nothing.
     */
    @Test
    void shouldLearnFromWaitsThatEndAtOnce() {
        for (int i = 0; i < 20; i++) {
            assertThat(shortWait(3)).isEqualTo(3);
            waitFor(2_000_000);
        }
        assertThat(waitFor(30_000)).contains("yield").doesNotContain("sleep");
    }

    @Test
    void shouldYieldNowAndThenInPlaceOfLookingWhereAProcessorIsPreferred() {
        List<Boolean> told = new ArrayList<>();
        WaitStrategy soft = new YieldSleepWait(affinity(told), clock, this::yielded);
        yieldNanos = SleepingWait.SLOW_YIELD_NANOS + 1;
        for (int i = 0; i < 2 * ShortSpin.WAITS_PER_YIELD; i++) {
            script.steps.clear();
            script.progress = () -> script.steps.size() >= 3;
            assertThat(soft.awaitSoon(script, SECOND)).isTrue();
        }
        assertThat(told).contains(true).hasSizeBetween(1, 2);
    }

    private void requireWaitsWithoutSpin() {
        for (int i = 0; i < ShortSpin.DISABLED_WAITS; i++) {
            assertThat(shortWait(3)).as("wait %d", i).isLessThanOrEqualTo(3);
            assertThat(script.steps).contains("yield");
        }
    }

    /** Looks before the first yield of a wait that this look ends, or the second after a yield. */
    private int shortWait(int endingLook) {
        script.steps.clear();
        script.progress =
                () -> {
                    int looks = script.steps.size();
                    int yields = script.steps.indexOf("yield");
                    return yields < 0 ? looks >= endingLook : looks >= yields + 2;
                };
        assertThat(strategy.awaitSoon(script, SECOND)).isTrue();
        int firstYield = script.steps.indexOf("yield");
        return firstYield < 0 ? script.steps.size() : firstYield;
    }

    @Test
    void shouldSpinBeforeItYieldsWhereItHasACoreOfItsOwn() {
        WaitStrategy spinning = new SpinYieldSleepWait(clock, this::yielded);
        int polls = 1 + SpinYieldSleepWait.SPIN_POLLS;
        script.progress = () -> script.steps.size() == polls;
        assertThat(spinning.awaitSoon(script, SECOND)).isTrue();
        assertThat(script.steps).containsOnly("progress").hasSize(polls);
        script.steps.clear();
        script.progress = () -> script.steps.contains("yield");
        assertThat(spinning.await(script, SECOND)).isTrue();
        assertThat(script.steps.subList(0, polls)).containsOnly("progress");
        assertThat(script.steps.subList(polls, script.steps.size()))
                .containsExactly("yield", "progress");
    }

    @Test
    void shouldEndWhenItIsWokenInEachPhase() {
        script.woken = true;
        assertThat(strategy.await(script, SECOND)).isFalse();
        assertThat(script.steps).containsExactly("progress");
        script.progress =
                () -> {
                    script.woken = script.steps.contains("yield");
                    return false;
                };
        assertThat(strategy.await(script, SECOND)).isFalse();
        assertThat(script.steps).doesNotContain("sleep");
    }

    @Test
    void shouldEndWhenTheTimeIsOver() {
        long begin = clock.nowNanos();
        script.sleepNanos = SECOND / 4;
        assertThat(strategy.await(script, SECOND)).isFalse();
        assertThat(clock.nowNanos() - begin).isBetween(SECOND, SECOND + SECOND / 4);
    }

    @Test
    void shouldTellTheAffinityOfEachYieldAndWhichWereSlow() {
        List<Boolean> told = new ArrayList<>();
        WaitStrategy soft = new YieldSleepWait(affinity(told), clock, this::yielded);
        script.progress = () -> script.steps.contains("yield");
        assertThat(soft.await(script, SECOND)).isTrue();
        assertThat(told).containsExactly(false);
        script.steps.clear();
        yieldNanos = SleepingWait.SLOW_YIELD_NANOS + 1;
        assertThat(soft.await(script, SECOND)).isTrue(); // what it brought does not hide it
        assertThat(told).containsExactly(false, true);
    }

    /** A policy that notes which yields were slow. */
    private AffinityPolicy affinity(List<Boolean> told) {
        return new AffinityPolicy() {
            @Override
            public void yielded(long nowNanos, boolean slow) {
                assertThat(nowNanos).isEqualTo(clock.getAsLong());
                told.add(slow);
            }

            @Override
            public void close() {
                throw new AssertionError("the engine's to call");
            }
        };
    }
}
