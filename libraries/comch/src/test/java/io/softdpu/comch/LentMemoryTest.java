package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import io.softdpu.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that is used after its validity: the sanitizer lets the access fail. */
class LentMemoryTest extends StreamFixture {
    /** Begins before the objects of the fixture are created. */
    private final Sanitizer sanitizer = Sanitizer.startForThread(11);

    @AfterEach
    void endTheSanitizer() {
        sanitizer.close();
    }

    private static void assertEnded(MemorySegment memory) {
        assertThatThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldFailAWriteToASendBufferThatWasSent() {
        open(1, 2);
        ComchSendBuffer buffer = Objects.requireNonNull(atClient.tryClaim());
        MemorySegment memory = buffer.segment();
        memory.set(ValueLayout.JAVA_INT, 0, 7);
        buffer.send(Integer.BYTES);

        assertThatThrownBy(() -> memory.set(ValueLayout.JAVA_INT, 0, 8))
                .isInstanceOf(IllegalStateException.class);
        assertEnded(buffer.segment());

        card.until("message", () -> numbers(atServer).equals(List.of(7)));
    }

    @Test
    void shouldFailAWriteToASendBufferThatWasClosed() {
        open(1, 2);
        ComchSendBuffer buffer = Objects.requireNonNull(atClient.tryClaim());
        MemorySegment memory = buffer.segment();
        buffer.close();
        assertEnded(memory);
        assertThat(send(atClient, 3)).isTrue();
        card.until("message", () -> numbers(atServer).equals(List.of(3)));
    }

    @Test
    void shouldFailAReadOfAReceiveBufferThatWasClosed() {
        open(2, 1);
        send(atClient, new byte[] {1, 2, 3}, new byte[] {4});
        ComchReceiveBuffer first = next(atServer);
        MemorySegment memory = first.segment();
        MemorySegment immediate = first.immediate();
        assertThat(bytes(first)).containsExactly(1, 2, 3);
        assertThat(immediate(first)).containsExactly(4);
        assertThat(immediate.isReadOnly()).isTrue();
        first.close();

        assertEnded(memory);
        assertEnded(immediate);

        send(atClient, new byte[] {5, 6}, NOTHING);
        try (ComchReceiveBuffer second = next(atServer)) {
            assertThat(bytes(second)).containsExactly(5, 6);
            assertEnded(memory);
        }
    }

    @Test
    void shouldFailAnAccessToTheBuffersOfAStreamThatWasClosed() {
        open(2, 2);
        assertThat(send(atClient, 1)).isTrue();
        ComchReceiveBuffer received = next(atServer);
        ComchSendBuffer claimed = Objects.requireNonNull(atServer.tryClaim());
        List<MemorySegment> kept =
                List.of(received.segment(), received.immediate(), claimed.segment());
        atServer.stop();
        untilEnded(atServer);
        assertThat(received.segment().get(ValueLayout.JAVA_INT, 0))
                .as("messages are there until the close")
                .isEqualTo(1);
        atServer.close();

        kept.forEach(LentMemoryTest::assertEnded);
        received.close();
    }

    /** A read from a pipe holds its memory until it is completed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReportMemoryThatIsBeingAccessedWhenItsUseEnds(boolean received) throws Exception {
        List<SanitizerReport> reports = new ArrayList<>();
        sanitizer.setListener(reports::add);
        open(2, 2);
        ComchStream ending = received ? atServer : atClient;
        assertThat(send(atClient, 7)).isTrue();
        MemorySegment memory =
                received
                        ? next(atServer).segment()
                        : Objects.requireNonNull(atClient.tryClaim()).segment();
        Pipe pipe = Pipe.open();
        Thread reader = new Thread(() -> read(pipe, memory.asByteBuffer()), "reader");
        reader.start();
        try (Pipe.SinkChannel sink = pipe.sink();
                Pipe.SourceChannel _ = pipe.source()) {
            Await.until("the read", () -> waitsForData(reader));

            ending.stop();
            untilEnded(ending);
            ending.close();
            sink.write(ByteBuffer.allocate(1));
            reader.join();
        }
        assertThat(reports)
                .extracting(SanitizerReport::kind)
                .containsExactly(SanitizerReport.Kind.BUF_MISUSED);
        assertThat(reports.getFirst().message())
                .contains("memory of a buffer is accessed while the program's use of it ends");
        assertThat(ending.failure()).isNull();
    }

    private static void read(Pipe pipe, ByteBuffer into) {
        try {
            assertThat(pipe.source().read(into)).isEqualTo(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The thread is inside the system call, for which the channel holds the memory. */
    private static boolean waitsForData(Thread reader) {
        StackTraceElement[] stack = reader.getStackTrace();
        return stack.length > 0
                && stack[0].isNativeMethod()
                && stack[0].getMethodName().startsWith("read");
    }

    @Test
    void shouldFailAReadOfAMessageAfterItsCallback() {
        List<MemorySegment> kept = new ArrayList<>();
        List<byte[]> copied = new ArrayList<>();
        Peer server = Peer.server(card, "keeping");
        ((ComchServer) server.endpoint)
                .setMessageCallback((from, message) -> {
                    kept.add(message);
                    copied.add(message.toArray(ValueLayout.JAVA_BYTE));
                });
        Peer client = Peer.client(card, "keeping");
        server.endpoint.start();
        client.endpoint.start();
        card.until("connected", () -> client.endpoint.state() == ContextState.RUNNING);
        client.send("first");
        card.until("message", () -> kept.size() == 1);
        client.send("second");
        card.until("message", () -> kept.size() == 2);

        kept.forEach(LentMemoryTest::assertEnded);
        assertThat(copied).extracting(String::new).containsExactly("first", "second");
        assertThat(kept).allMatch(MemorySegment::isReadOnly);
    }
}
