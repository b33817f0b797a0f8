package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.copy.Copier;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import org.junit.jupiter.api.Test;

/** The queue of messages that wait for the peer, beside a queue of arrays. */
class SendQueueTest {
    private static final int MAX_MESSAGES = 37;
    private static final int MAX_BYTES = 10_000;
    private static final int LARGEST = 2_000;

    @Test
    void shouldKeepOrderAndBytesWhereMessagesWrapAround(SeededRandom random) {
        SendQueue queue = new SendQueue(new Copier(), MAX_MESSAGES, MAX_BYTES, LARGEST);
        ArrayDeque<byte[]> expected = new ArrayDeque<>();
        byte[] moved = new byte[LARGEST];
        int bytes = 0;
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            boolean fill = i / 500 % 2 == 0;
            if (random.nextInt(4) < (fill ? 3 : 1)) {
                byte[] message = new byte[random.nextInt(8) == 0 ? LARGEST : random.nextInt(600)];
                random.nextBytes(message);
                boolean fits =
                        expected.size() < MAX_MESSAGES && bytes + message.length <= MAX_BYTES;
                boolean room = queue.hasRoom();
                assertThat(queue.add(MemorySegment.ofArray(message), 0, message.length))
                        .isEqualTo(fits);
                if (fits) {
                    expected.add(message);
                    bytes += message.length;
                } else {
                    refused++;
                    assertThat(room).as("room for any message").isFalse();
                }
            } else if (!expected.isEmpty()) {
                byte[] message = expected.remove();
                assertThat(queue.moveFirst(MemorySegment.ofArray(moved), 0))
                        .isEqualTo(message.length);
                assertThat(
                                MemorySegment.ofArray(moved)
                                        .asSlice(0, message.length)
                                        .toArray(ValueLayout.JAVA_BYTE))
                        .isEqualTo(message);
                bytes -= message.length;
            }
            assertThat(queue.isEmpty()).isEqualTo(expected.isEmpty());
            assertThat(queue.messages()).isEqualTo(expected.size());
            assertThat(queue.bytes()).isEqualTo(bytes);
        }
        assertThat(refused).isPositive();
    }
}
