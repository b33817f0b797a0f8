package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.discovery.DiscoverySelectors;

class SlowClassListenerTest {

    private static final FakeClock CLOCK = new FakeClock();

    private final List<String> printed = new ArrayList<>();

    private void run(Class<?> tests) {
        Launching.run(
                DiscoverySelectors.selectClass(tests),
                new SlowClassListener(Duration.ofSeconds(10), CLOCK, printed::add));
    }

    @Test
    void shouldNameAClassThatTakesLongerThanTheLimit() {
        run(Slow.class);

        assertThat(printed)
                .containsExactly(
                        "slow test class: class="
                                + Slow.class.getName()
                                + ", seconds=12.0, limit=10");
    }

    @Test
    void shouldNameNoClassWithinTheLimit() {
        run(Fast.class);

        assertThat(printed).isEmpty();
    }

    static class Slow {

        @Test
        void takesSix() {
            CLOCK.advance(Duration.ofSeconds(6));
        }

        @Test
        void takesSixMore() {
            CLOCK.advance(Duration.ofSeconds(6));
        }
    }

    static class Fast {

        @Test
        void takesTen() {
            CLOCK.advance(Duration.ofSeconds(10));
        }
    }
}
