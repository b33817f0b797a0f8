package io.softdpu.core.sync.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** The words that handles share, at the offsets of {@code docs/wire/sync-event.md}. */
class HandlePageTest {
    private static final long AT_ARMED = 0;
    private static final long AT_SEEN = 8;
    private static final long AT_WANTED = 128;
    private static final long AT_RELAYED = 256;
    private static final long AT_ENDED = 384;

    private final MemorySegment page = Arena.ofAuto().allocate(HandlePage.BYTES, 8).fill((byte) 0);

    private int word(long offset) {
        return page.get(ValueLayout.JAVA_INT, offset);
    }

    @Test
    void shouldRequestADoorbellForTheValueSeenUntilItIsTakenOrCancelled() {
        assertThat(HandlePage.isArmed(page)).isFalse();
        assertThat(HandlePage.takeArmed(page)).isFalse();
        HandlePage.arm(page, -5);
        assertThat(page.get(ValueLayout.JAVA_LONG, AT_SEEN)).isEqualTo(-5);
        assertThat(HandlePage.seen(page)).isEqualTo(-5);
        assertThat(word(AT_ARMED)).isEqualTo(1);
        assertThat(HandlePage.isArmed(page)).isTrue();
        assertThat(HandlePage.takeArmed(page)).isTrue();
        assertThat(word(AT_ARMED)).isZero();
        assertThat(HandlePage.takeArmed(page)).isFalse();
        HandlePage.arm(page, 1);
        HandlePage.disarm(page);
        assertThat(HandlePage.isArmed(page)).isFalse();
    }

    @Test
    void shouldSetAndTakeWanted() {
        assertThat(HandlePage.isWanted(page)).isFalse();
        assertThat(HandlePage.takeWanted(page)).isFalse();
        HandlePage.setWanted(page, true);
        assertThat(word(AT_WANTED)).isEqualTo(1);
        assertThat(HandlePage.isWanted(page)).isTrue();
        assertThat(HandlePage.takeWanted(page)).isTrue();
        assertThat(word(AT_WANTED)).isZero();
        HandlePage.setWanted(page, true);
        HandlePage.setWanted(page, false);
        assertThat(HandlePage.isWanted(page)).isFalse();
    }

    @Test
    void shouldSetRelayedAndEnded() {
        assertThat(HandlePage.isRelayed(page)).isFalse();
        HandlePage.setRelayed(page, true);
        assertThat(word(AT_RELAYED)).isEqualTo(1);
        assertThat(HandlePage.isRelayed(page)).isTrue();
        HandlePage.setRelayed(page, false);
        assertThat(HandlePage.isRelayed(page)).isFalse();
        assertThat(HandlePage.isEnded(page)).isFalse();
        HandlePage.end(page);
        assertThat(word(AT_ENDED)).isEqualTo(1);
        assertThat(HandlePage.isEnded(page)).isTrue();
    }

    @Test
    void shouldCountInTheFirstEightBytes() {
        EventCounter.set(page, 7);
        assertThat(page.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(7);
        assertThat(EventCounter.add(page, 3)).isEqualTo(7);
        assertThat(EventCounter.get(page)).isEqualTo(10);
    }
}
