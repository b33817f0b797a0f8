package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The sample against itself, and against hostile clients of its TCP port. */
@ExtendWith(OwnFabric.class)
class RdmaPingpongTest {
    private static final int PORT = 18_515;
    private static final int GOLDEN_RATIO = 0x9e37_79b9;
    private static final String GID = "00000000000000000000ffff7f010203";

    @TempDir Path folder;
    private String server = "";
    private String client = "";

    /** In 127.0.0.0/9, which no other test has. */
    @BeforeEach
    void chooseAddresses() throws IOException {
        int own = folder.toRealPath().toString().hashCode() * GOLDEN_RATIO >>> 11;
        String subnet = "127." + (66 + (own >>> 14) % 60) + "." + (own >>> 6 & 0xff) + ".";
        server = subnet + (1 + ((own & 0x3f) << 1));
        client = subnet + (2 + ((own & 0x3f) << 1));
    }

    private Run runServer(String... options) {
        return new Run(List.of(server, client), "device=t0", options);
    }

    private Run runClient(String... options) {
        return new Run(List.of(server, client), "device=p0", options);
    }

    /** A run on a thread of its own. */
    private static final class Run {
        private final ByteArrayOutputStream said = new ByteArrayOutputStream();
        private final CompletableFuture<Boolean> listening = new CompletableFuture<>();
        private final CompletableFuture<@Nullable Void> end;

        Run(List<String> addresses, String device, String... options) {
            List<String> all = new ArrayList<>(List.of(options));
            all.add(device);
            PrintStream out =
                    new PrintStream(said, true, StandardCharsets.UTF_8) {
                        @Override
                        public void println(String line) {
                            super.println(line);
                            if (line.startsWith("waiting for a client: ")) {
                                listening.complete(true);
                            }
                        }
                    };
            end =
                    CompletableFuture.runAsync(
                            () -> PingpongProgram.run(out, addresses, all.toArray(String[]::new)),
                            task -> Thread.ofPlatform().daemon().start(task));
            CompletableFuture<@Nullable Void> _ =
                    end.exceptionally(failure -> {
                        listening.completeExceptionally(failure);
                        return null;
                    });
        }

        Run awaitListening() {
            boolean _ = listening.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
            return this;
        }

        String output() {
            end.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
            return said.toString(StandardCharsets.UTF_8);
        }

        DpuException failure() {
            try {
                output();
            } catch (CompletionException e) {
                if (e.getCause() instanceof DpuException failure) {
                    return failure;
                }
                throw e;
            }
            throw new AssertionError("it has not failed: " + said);
        }
    }

    @ParameterizedTest
    @CsvSource({"4096, 1024", "1, 256", "61, 4096", "10000, 512"})
    void shouldExchangeMessages(int size, int mtu) {
        String[] options = {"iters=100", "size=" + size, "mtu=" + mtu};
        Run one = runServer(options).awaitListening();
        Run other = runClient("address=" + server, options[0], options[1], options[2]);
        for (Run each : new Run[] {other, one}) {
            assertThat(each.output())
                    .containsPattern(
                            "(?m)^  local address:  LID 0x0000, QPN 0x[0-9a-f]{6}, PSN"
                                    + " 0x[0-9a-f]{6}, GID ::ffff:127[.0-9]+$")
                    .containsPattern(
                            "(?m)^  remote address: LID 0x0000, QPN 0x[0-9a-f]{6}, PSN"
                                    + " 0x[0-9a-f]{6}, GID ::ffff:127[.0-9]+$")
                    .containsPattern(
                            "(?m)^" + 200 * size + " bytes in [0-9.]+ seconds = [0-9.]+ Mbit/sec$")
                    .containsPattern("(?m)^100 iters in [0-9.]+ seconds = [0-9.]+ usec/iter$");
        }
    }

    @Test
    @StartsProcesses
    void shouldExchangeMessagesBetweenProcesses(Processes processes) {
        JavaCommand command = JavaCommand.ofClass(PingpongProgram.class);
        ChildProcess one =
                processes.start(command.withArguments(server, client, "device=t0", "iters=1000"));
        one.awaitLine("^waiting for a client: ");
        ChildProcess other =
                processes.start(
                        command.withArguments(
                                server, client, "device=p0", "iters=1000", "address=" + server));
        assertThat(other.awaitExit()).as("%s", other.errorLines()).isZero();
        assertThat(one.awaitExit()).as("%s", one.errorLines()).isZero();
        assertThat(one.outputLines())
                .anyMatch(line -> line.startsWith("8192000 bytes in "))
                .anyMatch(line -> line.startsWith("1000 iters in "));
    }

    @Test
    void shouldEndBothSidesIfAMessageIsLongerThanItsReceive() {
        Run one = runServer("size=32").awaitListening();
        Run other = runClient("size=64", "address=" + server);
        assertThat(one.failure().status()).isEqualTo(Status.TOO_BIG);
        assertThat(other.failure())
                .hasMessageContaining("message has failed: sent=0, received=0, iters=1000, reason=")
                .extracting(DpuException::status)
                .isEqualTo(Status.IO_FAILED);
    }

    /** Error of a server to which a hostile client sends these bytes alone. */
    private DpuException failureAfter(byte[] bytes) throws IOException {
        Run run = runServer("iters=1").awaitListening();
        try (Socket hostile = new Socket(server, PORT)) {
            OutputStream out = hostile.getOutputStream();
            out.write(bytes);
            out.flush();
            hostile.shutdownOutput();
            return run.failure();
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @ParameterizedTest
    @CsvSource({
        "0000:000005:000006, CONNECTION_RESET, 'peer has closed its TCP connection: '",
        "'', CONNECTION_RESET, 'lengthBytes=0, line=,'",
        "0000:000005:000006:" + GID + "0, INVALID_VALUE, 'line of the peer is illegal: '",
        "GET / HTTP/1.1 and a header that goes on and on and on and on, INVALID_VALUE, 'GET / HTTP'"
    })
    void shouldShowTheTextOfAHostileClient(String text, Status status, String expected)
            throws IOException {
        DpuException failure = failureAfter(ascii(text));
        assertThat(failure.status()).isEqualTo(status);
        assertThat(failure)
                .hasMessageContainingAll(
                        expected, "peer=127.", text.substring(0, Math.min(20, text.length())));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0000:00000g:000006:" + GID,
                "0000:000005:000006;" + GID,
                "0000-000005-000006-" + GID,
                "   0:     5:     6:" + GID
            })
    void shouldRefuseALineOfAnotherForm(String line) throws IOException {
        DpuException failure = failureAfter(ascii(line + "\0"));
        assertThat(failure.status()).isEqualTo(Status.INVALID_VALUE);
        assertThat(failure)
                .hasMessageContainingAll("line of the peer is illegal: ", line, "expected=LID:QPN");
    }

    @Test
    void shouldEscapeTheTextOfAHostileClient() throws IOException {
        byte[] bytes = new byte[60];
        bytes[0] = 0x1b;
        assertThat(failureAfter(bytes).getMessage())
                .contains("line of the peer is illegal: ")
                .doesNotContain("\u001b", "\0");
    }

    @Test
    void shouldRefuseAQueuePairThatIsNone() throws IOException {
        DpuException failure = failureAfter(ascii("0000:000001:000006:" + GID + "\0"));
        assertThat(failure.status()).isEqualTo(Status.INVALID_VALUE);
        assertThat(failure)
                .hasMessageContainingAll(
                        "queue pair of the peer is illegal: ", "line=0000:000001", "queuePair=1");
    }

    /** A peer without {@code -g} has the GID 0. */
    @Test
    void shouldRefuseAGidThatIsNotInReach() throws IOException {
        DpuException failure = failureAfter(ascii("0000:000005:000006:" + "0".repeat(32) + "\0"));
        assertThat(failure.status()).isEqualTo(Status.NOT_SUPPORTED);
        assertThat(failure).hasMessageContaining("address is of another family");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0000:0000"})
    void shouldEndASilentPeersTime(String text) throws IOException {
        Duration time = Duration.ofMillis(1);
        while (!endsASilentPeersTime(text, time)) {
            time = time.multipliedBy(2);
        }
    }

    /** Returns false if the client has not connected in that time. */
    private boolean endsASilentPeersTime(String text, Duration time) throws IOException {
        try (ServerSocket silent = new ServerSocket(PORT, 1, InetAddress.getByName(server));
                PingpongExchange exchange =
                        PingpongExchange.connect(
                                new InetSocketAddress(server, PORT), Deadline.in(time));
                Socket accepted = silent.accept()) {
            accepted.getOutputStream().write(ascii(text));
            assertThatThrownBy(() -> exchange.receive(1024, 1))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.TIME_OUT))
                    .hasMessageContaining(
                            "peer has not sent its line in time: peer=%s port %d", server, PORT)
                    .hasMessageContaining("lengthBytes=%d, line=%s,", text.length(), text);
            return true;
        } catch (DpuException e) {
            assertThat(e).hasMessageContaining("server cannot be reached");
            assertThat(e.status()).isEqualTo(Status.TIME_OUT);
            return false;
        }
    }

    @Test
    void shouldRefuseAnotherWordThanDone() throws IOException {
        byte[] line = ascii("0000:000005:000006:" + GID + "\0gone\0");
        DpuException failure = failureAfter(line);
        assertThat(failure.status()).isEqualTo(Status.INVALID_VALUE);
        assertThat(failure).hasMessageContainingAll("line=gone", "expected=done");
    }

    @Test
    void shouldShowWhatAStrangeServerSends() throws IOException {
        try (ServerSocket strange = new ServerSocket(PORT, 1, InetAddress.getByName(server))) {
            Run run = runClient("address=" + server);
            try (Socket accepted = strange.accept()) {
                accepted.getOutputStream().write(ascii("220 mail.example.org ESMTP\r\n"));
                accepted.shutdownOutput();
                DpuException failure = run.failure();
                assertThat(failure.status()).isEqualTo(Status.CONNECTION_RESET);
                assertThat(failure).hasMessageContaining("220 mail.example.org ESMTP\\r\\n");
            }
        }
    }

    @Test
    void shouldSayThatNoServerIsThereAndNoClientHasCome() {
        assertThat(runClient("address=" + server).failure())
                .hasMessageContaining("server cannot be reached: address=" + server)
                .extracting(DpuException::status)
                .isEqualTo(Status.IO_FAILED);
        assertThat(runServer("timeout=0.1").failure())
                .hasMessageContaining("no client has connected in time: address=" + server)
                .extracting(DpuException::status)
                .isEqualTo(Status.TIME_OUT);
    }

    @ParameterizedTest
    @CsvSource({
        "size=0, number is illegal: option=--size",
        "size=x, number is illegal: option=--size",
        "iters=0, number is illegal: option=--iters",
        "mtu=1500, RDMA property is no power of two: pathMtuBytes=1500",
        "mtu=8192, number is illegal: option=--mtu",
        "port=0, number is illegal: option=--port",
        "address=here, not an address: option=--address",
        "gid-index=9, index of the GID is illegal"
    })
    void shouldRefuseAnIllegalOption(String option, String expected) {
        assertThatThrownBy(() ->
                        PingpongProgram.run(
                                new PrintStream(new ByteArrayOutputStream()),
                                List.of(server, client),
                                "device=t0",
                                option))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(expected);
    }
}
