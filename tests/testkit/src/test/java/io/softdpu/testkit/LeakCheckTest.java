package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeakCheckTest {

    private static final Duration NOW = Duration.ZERO;

    @TempDir Path folder;

    @BeforeAll
    static void openWhatTheJdkKeeps() throws IOException {
        Selector.open().close();
        ServerSocketChannel.open(StandardProtocolFamily.UNIX).close();
    }

    @Test
    void shouldFindASelectorThatIsLeftOpen() throws IOException {
        LeakCheck check = LeakCheck.begin();

        try (Selector selector = Selector.open()) {
            assertThat(selector.isOpen()).isTrue();
            assertLeft(check, "anon_inode:[eventpoll]");
        }
        check.assertNothingLeft();
    }

    @Test
    void shouldFindASocketAndItsFile() throws IOException {
        LeakCheck check = LeakCheck.begin(folder);
        Path file = folder.resolve("listening");

        try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.bind(UnixDomainSocketAddress.of(file));
            assertLeft(check, "socket:[");
        }
        assertLeft(check, "socket " + file);
        Files.delete(file);
        check.assertNothingLeft();
    }

    @Test
    void shouldFindAThreadAndWaitForItsEnd() throws InterruptedException {
        LeakCheck check = LeakCheck.begin();
        CountDownLatch end = new CountDownLatch(1);
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                end.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        },
                        "left-alone");
        thread.start();

        assertLeft(check, "(left-alone)");
        end.countDown();
        check.assertNothingLeft();
        thread.join();
    }

    @Test
    void shouldSeeMappingsWithWhatIsResident() throws IOException {
        Path file = folder.resolve("mapped");
        try (Arena arena = Arena.ofConfined();
                FileChannel channel =
                        FileChannel.open(
                                file,
                                StandardOpenOption.CREATE,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE)) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 20, arena);
            assertThat(mappingOf(file).residentBytes()).isZero();
            assertThat(mappingOf(file).sizeBytes()).isEqualTo(1 << 20);
            assertThat(mappingOf(file).permissions()).isEqualTo("rw-s");
            assertThat(mappingOf(file).startAddress()).isEqualTo(mapped.address());
            assertThat(mappingOf(file).isMemfd()).isFalse();

            mapped.fill((byte) 1);
            assertThat(mappingOf(file).residentBytes()).isEqualTo(1 << 20);
        }
    }

    private static ProcessView.Mapping mappingOf(Path file) {
        return ProcessView.self().mappings().stream()
                .filter(mapping -> mapping.name().equals(file.toString()))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldSeePortsThreadsAndTheEndOfAProcess() throws IOException {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(ProcessView.self().listeningTcpPorts()).contains(listening.getLocalPort());
        }
        assertThat(ProcessView.self().threadNames()).contains("java");

        ProcessView none = ProcessView.of(Integer.MAX_VALUE);
        assertThat(none.descriptors()).isEmpty();
        assertThat(none.mappings()).isEmpty();
        assertThat(none.threadNames()).isEmpty();
        assertThat(none.listeningTcpPorts()).isEmpty();
    }

    private static void assertLeft(LeakCheck check, String what) {
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> check.assertNothingLeft(NOW))
                .withMessageContaining(what);
    }
}
