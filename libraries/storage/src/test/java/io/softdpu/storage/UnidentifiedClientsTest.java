package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.control.UnidentifiedClients;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.server.StorageTarget;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A whole session beside other clients of the target's port. A new client is served within a
 * second; the control timeout is far longer than any wait here, to show that the service does not
 * wait for it.
 */
class UnidentifiedClientsTest {
    private static final long CONTROL_TIMEOUT = 2 * Patience.NANOS;
    private static final long VOLUME_BYTES = 64 << 10;
    private static final int BLOCK_BYTES = 4096;
    private static final Workload READ =
            new Workload(List.of(Phase.read("read").transactions(2).build()));

    @TempDir private Path folder;
    private final CountDownLatch letIn = new CountDownLatch(1);
    private Pipeline pipeline;
    private StorageTarget target;

    @BeforeEach
    void startTarget() {
        pipeline = new Pipeline(folder, CONTROL_TIMEOUT);
        pipeline.targetListener(
                new SessionListener() {
                    @Override
                    public void step(SessionStep step, String detail) {
                        if (step == SessionStep.CONNECTED) {
                            letIn.countDown();
                        }
                    }
                });
        target = pipeline.startTarget(BlockDevice.open("memory:" + VOLUME_BYTES, BLOCK_BYTES));
    }

    @AfterEach
    void closeAll() {
        pipeline.close();
    }

    @Test
    void shouldServeASessionBesideAThousandIdleClients() throws Exception {
        try (UnidentifiedClients idle = strangers()) {
            for (int i = 0; i < 1000; i++) {
                idle.add();
            }
            assertSession();
        }
    }

    @Test
    void shouldServeASessionBesideClientsThatSayNothingWholeAndNeverRead() throws Exception {
        try (UnidentifiedClients strangers = strangers()) {
            for (int i = 0; i < 20; i++) {
                for (UnidentifiedClients.Kind kind : UnidentifiedClients.Kind.values()) {
                    strangers.add(kind);
                }
            }
            assertSession();
        }
    }

    @Test
    void shouldServeASessionInAFloodOfClientsThatComeAndGo() throws Exception {
        try (Flood flood = new Flood(target.address())) {
            Pipeline.await(flood.risen);
            long before = flood.arrivals.get();
            letServiceIn();
            // To be let in may take less than the flood's thread waits for a processor.
            Await.until("flood goes on", () -> flood.arrivals.get() > before);
            assertSessionOf(pipeline.openInitiator(READ));
        }
    }

    @Test
    void shouldRefuseASecondServiceAndKeepTheFirst() throws Exception {
        pipeline.startService(target.port());
        assertThat(letIn.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        try (Pipeline other = new Pipeline(elsewhere, CONTROL_TIMEOUT)) {
            other.startService(target.port());
            DpuException refusal = catchThrowableOfType(DpuException.class, other::awaitService);
            assertThat(refusal.status()).isEqualTo(Status.FULL);
            assertThat(refusal).hasMessageContaining("storage target serves another client");
        }
        assertSessionOf(pipeline.openInitiator(READ));
    }

    private UnidentifiedClients strangers() {
        return new UnidentifiedClients(target.address());
    }

    private void letServiceIn() throws InterruptedException {
        pipeline.startService(target.port());
        assertThat(letIn.await(Patience.SECONDS, TimeUnit.SECONDS)).as("was let in").isTrue();
    }

    private void assertSession() throws InterruptedException {
        letServiceIn();
        assertSessionOf(pipeline.openInitiator(READ));
    }

    private void assertSessionOf(StorageInitiator initiator) {
        Pipeline.await(Pipeline.begin(initiator));
        pipeline.awaitService();
        pipeline.awaitTarget();
        assertThat(pipeline.targetReport().operations()).isEqualTo(VOLUME_BYTES / BLOCK_BYTES);
    }

    /** Connects as fast as possible, and keeps the last few connections. */
    private static final class Flood implements AutoCloseable {
        private static final int KEPT = 500;

        private final InetSocketAddress address;
        private final CountDownLatch risen = new CountDownLatch(1);
        private final AtomicLong arrivals = new AtomicLong();
        private final CompletableFuture<Void> ended;
        private volatile boolean ebb;

        Flood(InetSocketAddress address) {
            this.address = address;
            this.ended =
                    CompletableFuture.runAsync(this::rise, r -> new Thread(r, "flood").start());
        }

        private void rise() {
            ArrayDeque<Socket> sockets = new ArrayDeque<>();
            try {
                while (!ebb) {
                    Socket socket = new Socket();
                    sockets.addLast(socket);
                    socket.connect(address, 20_000);
                    arrivals.incrementAndGet();
                    if (sockets.size() > KEPT) {
                        risen.countDown();
                        sockets.removeFirst().close();
                    }
                }
            } catch (IOException e) {
                // The target has closed its port: the session is over.
            } finally {
                sockets.forEach(Flood::close);
            }
        }

        private static void close(Socket socket) {
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() throws Exception {
            ebb = true;
            ended.get(Patience.SECONDS, TimeUnit.SECONDS);
        }
    }
}
