package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.storage.SessionStep;
import io.softdpu.testkit.Await;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Tests of {@link PeerWait} on a terminal. */
class PeerWaitTest {
    private static final String CLEAR = "\r\u001b[K";

    private final ByteArrayOutputStream screen = new ByteArrayOutputStream();
    private final PrintStream terminal = new PrintStream(screen, true, StandardCharsets.UTF_8);

    private String shown() {
        return screen.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shouldCountTheSecondsInOneLineAndRemoveIt() {
        try (PeerWait wait = new PeerWait(true, terminal, 1)) {
            wait.step(SessionStep.LISTENING, "127.0.0.1:5");
            wait.step(SessionStep.WAITING_FOR_CLIENT, "");
            String line = "waiting for a zero-copy service at 127.0.0.1:5: ";
            Await.until("second line", () -> shown().contains(line + "1 s"));

            wait.step(SessionStep.CONNECTED, "");
            assertThat(shown())
                    .startsWith(CLEAR + line + "0 s" + CLEAR)
                    .endsWith(" s" + CLEAR)
                    .doesNotContain("\n");
            assertThat(wait.lastStep()).isEqualTo(SessionStep.CONNECTED);
        }
    }

    @Test
    void shouldNameThePeerThatIsAwaited() {
        try (PeerWait wait = new PeerWait(true, terminal, 1000)) {
            wait.step(SessionStep.CONNECTING_TO_STORAGE, "tcp://h:1");
            wait.step(SessionStep.WAITING_FOR_CLIENT, "comch://c");
            wait.step(SessionStep.CONNECTING_TO_SERVICE, "comch://\u001b[2J");
            wait.step(SessionStep.DATA_PATH, "");
        }
        assertThat(shown())
                .contains("waiting for the storage target at tcp://h:1: 0 s" + CLEAR)
                .contains("waiting for an initiator at comch://c: 0 s" + CLEAR)
                .contains("waiting for the zero-copy service at comch://")
                .doesNotContain("\u001b[2J")
                .endsWith(CLEAR);
    }
}
