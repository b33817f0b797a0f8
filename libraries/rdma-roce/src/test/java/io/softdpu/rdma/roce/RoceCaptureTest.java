package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.linux.file.GrowingFile;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.roce.capture.Analysis;
import io.softdpu.rdma.roce.capture.CaptureWriter;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.testkit.Await;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Captures of live connections, as the reader of captures finds them. */
class RoceCaptureTest {
    private static final int MESSAGE_BYTES = 3000;
    private static final int MESSAGES = 20;
    private static final int ROCE_PORT = 4791;

    @TempDir Path folder;

    @AfterEach
    void useTheDefaults() {
        RoceOptions.defaults().use();
    }

    /** Content of a capture. */
    private record Found(Analysis analysis, Set<String> sources) {}

    private static Found read(Path file) throws IOException {
        Set<String> sources = new HashSet<>();
        try (InputStream input = Files.newInputStream(file)) {
            return new Found(Captures.read(input, packet -> sources.add(packet.source())), sources);
        }
    }

    /** Sends messages; returns the address of the near side, with its port. */
    private Gid exchange() {
        return exchange((_, _) -> {});
    }

    /** Exchanges messages, and passes on the parties before the end. */
    private Gid exchange(BiConsumer<Party, Party> behind) {
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            Party.connect(near, toFar, far, far.export());
            for (int i = 0; i < MESSAGES; i++) {
                assertThat(far.receive(MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
                assertThat(near.send(toFar, MESSAGE_BYTES)).isEqualTo(Status.SUCCESS);
                Party.drive(
                        "send and receive",
                        () -> !near.results.isEmpty() && !far.results.isEmpty(),
                        near,
                        far);
                assertThat(near.results.remove()).isEqualTo(Status.SUCCESS);
                assertThat(far.results.remove()).isEqualTo(Status.SUCCESS);
            }
            behind.accept(near, far);
            return Party.details(toFar).gid();
        }
    }

    @Test
    void shouldHaveBothDirectionsWithRightIcrcs() throws IOException {
        Path file = folder.resolve("out.pcap");
        RoceOptions.defaults().withCapture(file).use();
        Gid _ = exchange();
        RoceOptions.endCapture();

        Found found = read(file);
        assertThat(found.analysis().badIcrc()).isZero();
        assertThat(found.analysis().malformed()).isZero();
        assertThat(found.analysis().otherFrames()).isZero();
        assertThat(found.sources()).hasSize(2);
        assertThat(found.analysis().connectionMessages())
                .as("at both ends: REQ, REP, RTU, DREQ, DREP")
                .isGreaterThanOrEqualTo(2 * 3);
        assertThat(found.analysis().packets())
                .as("messages and acknowledgements, sent by one and received by the other")
                .isGreaterThan(2 * 2 * MESSAGES);
    }

    @Test
    void shouldHaveThePacketsInTheFileWhileProgramsPoll() throws IOException {
        Path file = folder.resolve("out.pcap");
        RoceOptions.defaults().withCapture(file).use();
        exchange((near, far) ->
                Await.byStep(
                        "packets in the file",
                        () -> sizeOf(file) > 2 * MESSAGES * MESSAGE_BYTES,
                        () -> {
                            near.engine.progress();
                            far.engine.progress();
                        }));
        RoceOptions.endCapture();

        assertThat(read(file).analysis().malformed()).isZero();
    }

    private static long sizeOf(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldFindThePacketsOfAnAdapterThatHasAnotherPort() throws IOException {
        Path file = folder.resolve("out.pcap");
        RoceOptions.defaults().withCapture(file).use();
        String address = addressOfNear();
        try (DatagramSocket held = hold(address)) {
            Gid used = exchange();
            if (held != null) {
                assertThat(used.port()).isNotEqualTo(ROCE_PORT);
            }
        }
        RoceOptions.endCapture();

        Found found = read(file);
        assertThat(found.analysis().badIcrc()).isZero();
        assertThat(found.analysis().otherFrames()).isZero();
        assertThat(found.sources()).hasSize(2);
        assertThat(found.analysis().packets()).isGreaterThan(2 * 2 * MESSAGES);
    }

    private String addressOfNear() {
        try (Party near = new Party(folder, Side.TARGET)) {
            return Party.details(near.export()).gid().withPort(ROCE_PORT).toString();
        }
    }

    private static @Nullable DatagramSocket hold(String address) throws IOException {
        try {
            return new DatagramSocket(new InetSocketAddress(address, ROCE_PORT));
        } catch (BindException e) {
            return null; // another test holds it
        }
    }

    @Test
    void shouldShowWhatAnImpairmentHasChanged() throws IOException {
        Path file = folder.resolve("out.pcap");
        RoceOptions.defaults().withCapture(file).withImpairment("corrupt=0.2,seed=3").use();
        Gid _ = exchange();
        RoceOptions.endCapture();

        Found found = read(file);
        assertThat(found.analysis().badIcrc() + found.analysis().malformed()).isPositive();
    }

    @Test
    void shouldShowTimeoutAndRetriesOfTheOptionsInTheRequests() throws IOException {
        Path file = folder.resolve("out.pcap");
        RoceOptions.defaults()
                .withAckTimeout(Duration.ofSeconds(5))
                .withRetries(3)
                .withCapture(file)
                .use();
        Gid _ = exchange();
        RoceOptions.endCapture();

        List<CmMessage.Req> requests = new ArrayList<>();
        try (InputStream input = Files.newInputStream(file)) {
            Analysis _ =
                    Captures.read(
                            input,
                            packet -> {
                                if (packet.message() instanceof CmMessage.Req request) {
                                    requests.add(request);
                                }
                            });
        }
        assertThat(requests)
                .isNotEmpty()
                .allMatch(each -> each.retries() == 3)
                .allMatch(each -> each.path().ackTimeout() == 21, "8.6 s");
    }

    @Test
    void shouldReportAFileThatCannotBeWrittenAndKeepTheOptionsBefore() throws IOException {
        Path nowhere = folder.resolve("none").resolve("out.pcap");
        Path file = folder.resolve("out.pcap");
        RoceOptions before = RoceOptions.defaults().withCapture(file);
        before.use();

        assertThatThrownBy(() -> RoceOptions.defaults().withCapture(nowhere).use())
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.IO_FAILED))
                .hasMessageContaining("capture cannot be written: file=" + nowhere)
                .hasMessageContaining("its folder does not exist");

        assertThat(RoceOptions.current()).isSameAs(before);
        Gid _ = exchange();
        RoceOptions.endCapture();
        assertThat(read(file).analysis().packets()).as("of the one before").isPositive();
    }

    @Test
    void shouldSayAtTheEndHowManyPacketsAreMissing() throws IOException {
        Path full = folder.resolve("full.pcap");
        GrowingFile file = GrowingFile.create(full);
        file.close(); // so that no write succeeds
        try (CaptureWriter writer = new CaptureWriter(full, file)) {
            for (int i = 0; i < 2; i++) {
                writer.add(0, 1, ROCE_PORT, 0, 2, ROCE_PORT, 0, Arena.ofAuto().allocate(16), 0, 16);
            }

            assertThatThrownBy(() -> RoceProcess.end(writer))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.IO_FAILED))
                    .hasMessageContaining("file=" + full + ", lostPackets=2, failure=")
                    .hasMessageContaining("file is closed");
        }
    }

    @Test
    void shouldBeginTheFileAnewIfItIsUsedAgain() throws IOException {
        Path file = folder.resolve("out.pcap");
        RoceOptions options = RoceOptions.defaults().withCapture(file);
        options.use();
        Gid _ = exchange();
        options.use();
        RoceOptions.endCapture();

        assertThat(read(file).analysis().packets()).isZero();
    }

    @Test
    void shouldHaveTheNumberOfTheProcessInTheNameOfTheEnvironment() {
        RoceOptions options = RoceEnvironment.read(Map.of("SOFTDPU_ROCE_PCAP", "/tmp/of-%p.pcap"));

        assertThat(options.capture())
                .isEqualTo(Path.of("/tmp/of-" + ProcessHandle.current().pid() + ".pcap"));
    }

    @Test
    void shouldRefuseANameThatTheLocaleCannotRepresent() {
        Map<String, String> undecoded = Map.of("SOFTDPU_ROCE_PCAP", "/tmp/\uFFFD.pcap");

        assertThatThrownBy(() -> RoceEnvironment.read(undecoded))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining("variable=SOFTDPU_ROCE_PCAP, value=/tmp/?.pcap");
    }
}
