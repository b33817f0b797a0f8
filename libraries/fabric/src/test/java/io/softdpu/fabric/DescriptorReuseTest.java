package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.EndpointProbe;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import io.softdpu.linux.Memfd;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reuse of the numbers of closed descriptors for other files. */
class DescriptorReuseTest {
    private static final long SIZE_BYTES = 8192;

    @TempDir Path folder;
    private Bus bus;

    @BeforeEach
    void openBus() {
        bus =
                Bus.open(
                        new Bus.Config(
                                folder.resolve("fabric"),
                                new byte[32],
                                "t",
                                Patience.NANOS,
                                1L << 20,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE));
    }

    @AfterEach
    void closeBus() {
        bus.close();
    }

    @Test
    void shouldSendTheMemoryOfAConnectThatItsOwnerHasReleased() throws Exception {
        BlockingQueue<PendingLink> arrivals = new ArrayBlockingQueue<>(1);
        Endpoint endpoint = bus.listen("server", arrivals::add);
        CountDownLatch busy = new CountDownLatch(1);
        bus.threads().loop().execute(() -> awaitUninterrupted(busy));
        SharedSegment inbound = SharedSegment.allocate("inbound", SIZE_BYTES);
        CompletableFuture<Attachment> connecting =
                bus.connect("server", new byte[0], inbound, Patience.NANOS).future();

        inbound.release();
        SharedSegment secret = SharedSegment.allocate("secret", SIZE_BYTES);
        secret.seal(false);
        busy.countDown();

        PendingLink arrived = arrivals.poll(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(arrived).isNotNull();
        Attachment accepted = arrived.accept(new byte[0], secret);
        Attachment connected = connecting.get(Patience.SECONDS, TimeUnit.SECONDS);
        secret.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 42);
        assertThat(accepted.remote().segment().get(ValueLayout.JAVA_BYTE, 0))
                .as("first byte of what was sent with the hello")
                .isZero();
        for (Attachment end : new Attachment[] {accepted, connected}) {
            end.link().close();
            end.remote().release();
        }
        secret.release();
        endpoint.close();
    }

    @Test
    void shouldNotSealOtherMemoryThatHasReusedTheDescriptorNumber() {
        SharedSegment gone = SharedSegment.allocate("gone", SIZE_BYTES);
        int number = gone.descriptor();
        gone.release();
        SharedSegment other = SharedSegment.allocate("other", SIZE_BYTES);
        assertThat(other.descriptor()).as("the number is given away again").isEqualTo(number);

        assertThatThrownBy(() -> bus.export(gone, false, null))
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.CLOSED));

        assertThat(Memfd.seals(other.descriptor()) & ~Memfd.SEAL_EXEC).isZero();
        other.release();
    }

    @Test
    void shouldCloseTheSocketOfANameThatPausesForLackOfDescriptors() throws Exception {
        ResourceSnapshot before = ResourceSnapshot.now();
        Endpoint endpoint = bus.listen("paused", pending -> pending.refuse(1, "no"));
        CompletableFuture<Void> paused = new CompletableFuture<>();
        bus.threads()
                .loop()
                .execute(() -> {
                    EndpointProbe.pause(endpoint);
                    paused.complete(null);
                });
        paused.get(Patience.SECONDS, TimeUnit.SECONDS);

        endpoint.close();

        CompletableFuture<Void> closed = new CompletableFuture<>();
        bus.threads().loop().execute(() -> closed.complete(null));
        closed.get(Patience.SECONDS, TimeUnit.SECONDS);
        ResourceSnapshot.awaitAgain(before);
    }

    @Test
    void shouldKeepTheLinkOfALeaseWhoseListenerFails() throws Exception {
        SharedSegment memory = SharedSegment.allocate("memory", SIZE_BYTES);
        ResourceSnapshot before = ResourceSnapshot.now();
        ExportedRegion region =
                bus.export(
                        memory,
                        true,
                        new LeaseListener() {
                            @Override
                            public void leaseOpened(Link lease) {
                                throw new FabricException(
                                        FabricException.Kind.LIMIT, "listener fails");
                            }

                            @Override
                            public void leaseClosed(Link lease) {}
                        });

        ImportedRegion imported =
                bus.importRegion(region.address(), true, true, Patience.NANOS)
                        .future()
                        .get(Patience.SECONDS, TimeUnit.SECONDS);

        CompletableFuture<Void> handled = new CompletableFuture<>();
        bus.threads().loop().execute(() -> handled.complete(null));
        handled.get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(imported.revoked()).isFalse();
        imported.close();
        Await.until("the lease has closed", () -> region.leases() == 0);
        region.revoke();
        ResourceSnapshot.awaitAgain(before);
        memory.release();
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
