package io.softdpu.core.internal.wait;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.FakeClock;
import io.softdpu.testkit.LogCapture;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A wait step by step, with a simulated clock and yield. */
class AdaptiveWaitTest {
    /** Misses in a row that disable spinning. */
    private static final int MISSES = ShortSpin.MAX_SPIN_CREDIT / ShortSpin.SPIN_MISS_COST;

    private static final long SECOND = 1_000_000_000L;

    /** Situation of the tests of spinning; in situation 0 it is disabled. */
    private static final int SPINNING = 1;

    /** A poll that no spin reaches. */
    private static final int NEVER = Integer.MAX_VALUE;

    private final FakeClock clock = new FakeClock();
    private final Script script = new Script();
    private long yieldNanos = 10_000;
    private final AdaptiveWait wait = new AdaptiveWait(null, clock, this::yielded);

    @BeforeEach
    void disableSpinningInSituation0() {
        while (spinningWait(NEVER, 0) > 1) {
            assertThat(script.steps).contains("yield");
        }
        script.progress = () -> false;
        script.steps.clear();
    }

    private void yielded() {
        script.steps.add("yield");
        clock.advanceNanos(yieldNanos);
    }

    private final class Script implements Waitable {
        final List<String> steps = new ArrayList<>();
        BooleanSupplier progress = () -> false;
        boolean ready;
        boolean woken;
        boolean interrupted;
        int situation;
        long sleepNanos = SECOND;

        @Override
        public int situation() {
            return situation;
        }

        @Override
        public boolean progress() {
            steps.add("progress");
            return progress.getAsBoolean();
        }

        @Override
        public boolean isInterrupted() {
            return interrupted;
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
        assertThat(wait.await(script, SECOND)).isTrue();
        assertThat(script.steps).containsExactly("progress");
    }

    @Test
    void shouldLookOnceWithoutATimeout() {
        assertThat(wait.await(script, 0)).isFalse();
        assertThat(script.steps).containsExactly("progress");
    }

    @Test
    void shouldYieldAndPollForAHundredMicrosecondsThenArmLookAgainSleepAndDisarm() {
        assertThat(wait.await(script, SECOND)).isFalse();
        List<String> expected = new ArrayList<>(List.of("progress"));
        for (int i = 0; i < 9; i++) {
            expected.add("yield");
            expected.addAll(Collections.nCopies(YieldInterval.MOST_POLLS, "progress"));
        }
        expected.addAll(List.of("yield", "progress"));
        expected.addAll(List.of("arm", "progress", "sleep", "disarm", "progress"));
        assertThat(script.steps.subList(0, expected.size())).isEqualTo(expected);
    }

    @Test
    void shouldEndAtAnInterruptAfterTheWorkThatIsThereAndKeepAWake() {
        script.interrupted = true;
        script.woken = true;
        assertThat(wait.await(script, SECOND)).isFalse();
        assertThat(script.steps).containsExactly("progress");
        assertThat(script.woken).as("a wake is for the next wait").isTrue();
        script.progress = () -> true;
        assertThat(wait.await(script, SECOND)).isTrue();
    }

    @Test
    void shouldSeeWhatCameBetweenTheLastLookAndTheArming() {
        script.progress = () -> script.steps.contains("arm");
        assertThat(wait.await(script, SECOND)).isTrue();
        assertThat(script.steps).endsWith("arm", "progress", "disarm").doesNotContain("sleep");
    }

    @Test
    void shouldNotSleepWhenArmingFindsWork() {
        script.ready = true;
        script.progress = () -> script.steps.contains("disarm");
        assertThat(wait.await(script, SECOND)).isTrue();
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
        org.assertj.core.api.Assertions.assertThatThrownBy(() -> wait.await(script, SECOND))
                .hasMessage("callback");
        assertThat(script.steps).endsWith("arm", "progress", "disarm");
    }

    @Test
    void shouldPollLongBetweenIdleYieldsAndShortlyAfterOneInWhichAnotherThreadRan() {
        int most = YieldInterval.MOST_POLLS;
        assertThat(pollsOfYields(10_000)).hasSize(10).endsWith(most, 1).startsWith(most);
        assertThat(pollsOfYields(30_000)).containsExactly(32, 32, 32, 1);
        assertThat(pollsOfYields(10_000)).startsWith(64, 128, most, most);
    }

    /** The looks of a wait at the work after each of its yields, which take so long. */
    private List<Integer> pollsOfYields(long nanos) {
        yieldNanos = nanos;
        script.steps.clear();
        assertThat(wait.await(script, SECOND)).isFalse();
        return pollsOfYields();
    }

    /** The looks at the work after each yield of the steps, without those of the sleep. */
    private List<Integer> pollsOfYields() {
        List<Integer> polls = new ArrayList<>();
        for (String step : script.steps.subList(0, script.steps.indexOf("arm"))) {
            if (step.equals("yield")) {
                polls.add(0);
            } else if (!polls.isEmpty()) {
                polls.set(polls.size() - 1, polls.getLast() + 1);
            }
        }
        return polls;
    }

    @Test
    void shouldTakeWorkThatComesBetweenTwoYields() {
        for (int polls : List.of(1, 2, 30)) {
            script.steps.clear();
            script.progress =
                    () -> {
                        int yield = script.steps.indexOf("yield");
                        return yield >= 0 && script.steps.size() - yield > polls;
                    };
            assertThat(wait.await(script, SECOND)).isTrue();
            assertThat(pollsBeforeTheEnd()).isEqualTo(polls);
        }
    }

    private int pollsBeforeTheEnd() {
        assertThat(script.steps).containsOnlyOnce("yield");
        return script.steps.size() - 1 - script.steps.indexOf("yield");
    }

    /** Engines whose polls are system calls. */
    @Test
    void shouldYieldSoonerWherePollsTakeLong() {
        takeForEachPoll(1_500);
        assertThat(pollsOfYields(10_000)).startsWith(16, 16).endsWith(16);
        takeForEachPoll(16_000);
        assertThat(pollsOfYields(10_000)).containsExactly(1, 1, 1, 1);
    }

    @Test
    void shouldEndInTimeWhereYieldsAndPollsTakeLong() {
        takeForEachPoll(1_500);
        assertThat(pollsOfYieldsIn(15_000)).containsExactly(4);
        takeForEachPoll(5_000);
        assertThat(pollsOfYieldsIn(12_000)).containsExactly(1);
        assertThat(pollsOfYieldsIn(30_000)).containsExactly(4);
    }

    /**
     * The looks at the work after each yield of a wait that ends by its timeout before it sleeps.
     */
    private List<Integer> pollsOfYieldsIn(long timeoutNanos) {
        script.steps.clear();
        assertThat(wait.await(script, timeoutNanos)).isFalse();
        assertThat(script.steps).doesNotContain("arm");
        script.steps.add("arm");
        return pollsOfYields();
    }

    private void takeForEachPoll(long nanos) {
        script.progress =
                () -> {
                    clock.advanceNanos(nanos);
                    return false;
                };
    }

    @Test
    void shouldSleepAtOnceInTheNextWaitAfterASlowYieldAndThenYieldAgain() {
        script.sleepNanos = 1;
        for (int waits = 1; waits <= 4; waits *= 2) {
            yieldNanos = AdaptiveWait.SLOW_YIELD_NANOS + 1;
            assertThat(pollsOfYieldsIn(yieldNanos / 2)).containsExactly(1);
            yieldNanos = AdaptiveWait.SLOW_YIELD_NANOS; // not slow
            for (int i = 0; i < waits; i++) {
                assertThat(waitThatASleepEnds()).as("wait %d", i).doesNotContain("yield");
            }
            assertThat(waitThatASleepEnds()).contains("yield");
        }
    }

    private List<String> waitThatASleepEnds() {
        script.steps.clear();
        script.progress = () -> script.steps.contains("sleep");
        assertThat(wait.await(script, SECOND)).isTrue();
        script.progress = () -> false;
        return script.steps;
    }

    @Test
    void shouldYieldAgainInTheNextWaitIfASlowYieldBroughtWork() {
        yieldNanos = AdaptiveWait.SLOW_YIELD_NANOS + 1;
        script.progress = () -> script.steps.contains("yield");
        for (int i = 0; i < 3; i++) {
            script.steps.clear();
            assertThat(wait.await(script, SECOND)).isTrue();
            assertThat(script.steps).contains("yield").doesNotContain("sleep");
        }
    }

    @Test
    void shouldLogOnceWhatItsYieldsHaveTold() {
        try (LogCapture log = new LogCapture(AdaptiveWait.class.getName(), Level.FINE)) {
            AdaptiveWait logging = new AdaptiveWait(null, clock, this::yielded);
            int yields = 0;
            while (yields < AdaptiveWait.LOGGED_YIELDS) {
                assertThat(log.with("yields=")).isEmpty();
                yields += yieldsOf(logging);
            }
            while (yields < 3 * AdaptiveWait.LOGGED_YIELDS) {
                yields += yieldsOf(logging);
            }
            assertThat(log.with("yields="))
                    .singleElement()
                    .satisfies(record ->
                            assertThat(record.getMessage())
                                    .isEqualTo(
                                            "waits of a thread: thread="
                                                    + Thread.currentThread().getName()
                                                    + ", yields=4096, shortestYieldNanos=10000,"
                                                    + " pollsToNextYield=256,"
                                                    + " waitsBehindSlowYield=1"));
        }
    }

    /** Number of yields of a wait that brings nothing. */
    private int yieldsOf(AdaptiveWait some) {
        script.steps.clear();
        assertThat(some.await(script, SECOND)).isFalse();
        return Collections.frequency(script.steps, "yield");
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
            assertThat(wait.await(script, SECOND)).isFalse();
        }
        assertThat(waitFor(30_000)).contains("yield");
    }

    /** The steps of one wait that something ends after this time. */
    private List<String> waitFor(long nanos) {
        script.steps.clear();
        long end = clock.nowNanos() + nanos;
        script.progress = () -> clock.nowNanos() >= end;
        script.sleepNanos = nanos;
        assertThat(wait.await(script, SECOND)).isTrue();
        return script.steps;
    }

    @Test
    void shouldSpinBeforeTheFirstYield() {
        assertThat(spinningWait(2)).isEqualTo(2);
        assertThat(spinningWait(ShortSpin.SHORT_SPIN_POLLS)).isEqualTo(ShortSpin.SHORT_SPIN_POLLS);
        assertThat(script.steps).containsOnly("progress");
        assertThat(spinningWait(NEVER)).isEqualTo(ShortSpin.SHORT_SPIN_POLLS);
        assertThat(script.steps).contains("yield");
    }

    @Test
    void shouldNotSpinWithoutATimeout() {
        script.situation = SPINNING;
        assertThat(wait.await(script, 0)).isFalse();
        assertThat(script.steps).containsExactly("progress");
    }

    @Test
    void shouldNotSpinAfterAWake() {
        script.situation = SPINNING;
        script.woken = true;
        assertThat(wait.await(script, SECOND)).isFalse();
        assertThat(script.steps).containsExactly("progress");
    }

    @Test
    void shouldStopSpinningWhereThatIsInVainAndTryAgainLater() {
        for (int i = 0; i < MISSES; i++) {
            assertThat(spinningWait(NEVER)).as("series %d", i).isGreaterThan(1);
        }
        requireWaitsWithoutSpin();
        assertThat(spinningWait(NEVER)).as("another try").isGreaterThan(1);
        requireWaitsWithoutSpin();
        for (int i = 0; i <= ShortSpin.MAX_SPIN_CREDIT; i++) {
            assertThat(spinningWait(3)).isEqualTo(3);
            spinningWait(3, 0); // a yield: no row of spins
        }
        for (int i = 0; i < MISSES; i++) {
            assertThat(spinningWait(NEVER)).as("as at first").isGreaterThan(1);
        }
        requireWaitsWithoutSpin();
    }

    private void requireWaitsWithoutSpin() {
        for (int i = 0; i < ShortSpin.DISABLED_WAITS; i++) {
            assertThat(spinningWait(3)).as("wait %d", i).isEqualTo(1);
            assertThat(script.steps).contains("yield");
        }
    }

    @Test
    void shouldGoOnSpinningWhereFourOfFiveWaitsEndSo() {
        for (int i = 0; i < 10_000; i++) {
            boolean miss = i % 5 == 0;
            assertThat(spinningWait(miss ? NEVER : 3)).isGreaterThan(1);
            assertThat(script.steps.contains("yield")).isEqualTo(miss);
        }
    }

    @Test
    void shouldSoonStopSpinningWhereEachSecondWaitIsInVain() {
        int waits = 0;
        do {
            assertThat(++waits).isLessThan(2 * MISSES);
            spinningWait(3);
        } while (spinningWait(NEVER) > 1);
    }

    /** A relay: one peer answers at once, the other needs the processor of the relay. */
    @Test
    void shouldSpinInOneSituationAndNotInAnother() {
        for (int i = 0; i < 1000; i++) {
            assertThat(spinningWait(3, SPINNING)).isEqualTo(3);
            int polls = spinningWait(NEVER, Waitable.SITUATIONS - 1);
            assertThat(polls > 1).as("wait %d", i).isEqualTo(i < MISSES);
        }
    }

    /** Messages that have arrived before the wait neither earn nor spend credit. */
    @Test
    void shouldNotEarnCreditByMessagesThatHaveArrivedBefore() {
        int waits = 0;
        do {
            assertThat(++waits).isLessThan(MISSES + 2);
            for (int i = 0; i < 100; i++) {
                assertThat(spinningWait(1)).isEqualTo(1);
            }
        } while (spinningWait(NEVER) > 1);
    }

    /**
     * Short waits that a spin has ended count as short: a long one now and then changes nothing.
     */
    @Test
    void shouldLearnFromWaitsThatASpinHasEnded() {
        for (int i = 0; i < 20; i++) {
            assertThat(spinningWait(3)).isEqualTo(3);
            waitFor(2_000_000);
        }
        assertThat(waitFor(30_000)).contains("yield").doesNotContain("sleep");
    }

    /** A peer that shares the processor must run, too, though spins go on succeeding. */
    @Test
    void shouldYieldFirstAfterSomeSpinsInARow() {
        for (int series = 0; series < 10; series++) {
            for (int i = 0; i < ShortSpin.SPINS_PER_YIELD; i++) {
                assertThat(spinningWait(3)).isEqualTo(3);
            }
            assertThat(spinningWait(3)).isEqualTo(1);
            assertThat(script.steps).contains("yield");
        }
    }

    private int spinningWait(int endingPoll) {
        return spinningWait(endingPoll, SPINNING);
    }

    /**
     * Polls before the first yield of a wait that this poll ends, or the first after a yield. A
     * wait in whose situation spinning is disabled has one.
     */
    private int spinningWait(int endingPoll, int situation) {
        script.situation = situation;
        script.steps.clear();
        script.progress = () -> script.steps.contains("yield") || script.steps.size() >= endingPoll;
        assertThat(wait.await(script, SECOND)).isTrue();
        script.situation = 0;
        int firstYield = script.steps.indexOf("yield");
        return firstYield < 0 ? script.steps.size() : firstYield;
    }

    @Test
    void shouldEndWhenItIsWokenInEachPhase() {
        script.woken = true;
        assertThat(wait.await(script, SECOND)).isFalse();
        assertThat(script.steps).containsExactly("progress");
        script.progress =
                () -> {
                    script.woken = script.steps.contains("yield");
                    return false;
                };
        assertThat(wait.await(script, SECOND)).isFalse();
        assertThat(script.steps).doesNotContain("sleep");
    }

    @Test
    void shouldEndWhenTheTimeIsOver() {
        long begin = clock.nowNanos();
        script.sleepNanos = SECOND / 4;
        assertThat(wait.await(script, SECOND)).isFalse();
        assertThat(clock.nowNanos() - begin).isBetween(SECOND, SECOND + SECOND / 4);
    }

    @Test
    void shouldTellTheAffinityOfEachYieldAndWhichWereSlow() {
        List<Boolean> told = new ArrayList<>();
        AdaptiveWait soft = new AdaptiveWait(affinity(told), clock, this::yielded);
        script.progress = () -> script.steps.contains("yield");
        assertThat(soft.await(script, SECOND)).isTrue();
        assertThat(told).containsExactly(false);
        script.steps.clear();
        yieldNanos = AdaptiveWait.SLOW_YIELD_NANOS + 1;
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
