package io.softdpu.fabric.handshake;

import static io.softdpu.fabric.handshake.ImportState.ASKED;
import static io.softdpu.fabric.handshake.ImportState.CLOSED;
import static io.softdpu.fabric.handshake.ImportState.HANDED_OVER;
import static io.softdpu.fabric.handshake.ImportState.LINKED;
import static io.softdpu.fabric.handshake.ImportState.MAPPED;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.handshake.ImportState.Event;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each state of an import with each event. */
final class ImportStateTest {
    /** By state, the events that are possible in it, and the state after each. */
    private static final Map<ImportState, Map<Event, ImportState>> TRANSITIONS =
            Map.of(
                    ASKED, Map.of(Event.GRANT, LINKED, Event.CLOSE, CLOSED),
                    LINKED, Map.of(Event.MAP, MAPPED, Event.CLOSE, CLOSED),
                    MAPPED, Map.of(Event.HAND_OVER, HANDED_OVER, Event.CLOSE, CLOSED),
                    HANDED_OVER, Map.of(Event.CLOSE, CLOSED),
                    CLOSED, Map.of());

    static Stream<Arguments> pairs() {
        return Arrays.stream(ImportState.values())
                .flatMap(state ->
                        Arrays.stream(Event.values()).map(event -> Arguments.of(state, event)));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void shouldMoveByThePossibleEventsAlone(ImportState state, Event event) {
        ImportState after = TRANSITIONS.get(state).get(event);
        AtomicReference<ImportState> present = new AtomicReference<>(state);

        assertThat(ImportState.move(present, event)).isEqualTo(after == null ? null : state);

        assertThat(present).hasValue(after == null ? state : after);
    }
}
