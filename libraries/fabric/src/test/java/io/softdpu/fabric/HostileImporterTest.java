package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Importers that violate the rules of their link. The exporter ignores them from then on, but their
 * memory counts as released only when they hang up.
 */
final class HostileImporterTest {
    private static final int SIZE_BYTES = 4096;

    /** Violations: data other than doorbells. */
    private enum Breach {
        TOO_LONG,
        EMPTY,
        WITH_DESCRIPTOR;

        /** Whether it went out: the kernel may refuse a descriptor to the sender. */
        boolean commit(HostilePeer importer) {
            int error =
                    switch (this) {
                        case TOO_LONG -> importer.trySendBytes(new byte[2]);
                        case EMPTY -> importer.trySendBytes(new byte[0]);
                        case WITH_DESCRIPTOR -> {
                            int memory = BadDescriptor.good(SIZE_BYTES);
                            try {
                                yield importer.trySendBytes(new byte[1], memory);
                            } finally {
                                FileDescriptors.close(memory);
                            }
                        }
                    };
            if (this == WITH_DESCRIPTOR && error == Errno.EPERM) {
                return false;
            }
            assertThat(error).as("errno of send").isZero();
            return true;
        }
    }

    @TempDir Path folder;

    private final LinkedBlockingQueue<Link> opened = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<Link> closed = new LinkedBlockingQueue<>();
    private final LeaseListener listener =
            new LeaseListener() {
                @Override
                public void leaseOpened(Link lease) {
                    opened.add(lease);
                }

                @Override
                public void leaseClosed(Link lease) {
                    closed.add(lease);
                }
            };

    private Bus exporter;
    private SharedSegment memory;
    private ExportedRegion region;
    private EventPoller engine;

    @BeforeEach
    void export() {
        exporter =
                Bus.open(
                        new Bus.Config(
                                folder.resolve("fabric"),
                                new byte[32],
                                "t",
                                Patience.NANOS,
                                1 << 20,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE));
        memory = SharedSegment.allocate("exported", SIZE_BYTES);
        region = exporter.export(memory, true, listener);
        engine = new EventPoller();
    }

    @AfterEach
    void close() {
        region.close();
        exporter.close();
        engine.close();
        memory.release();
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseMemoryHeldByAnImporterThatViolatedTheRulesBeforeTheRevocation(Breach breach)
            throws Exception {
        try (HostilePeer importer = importer()) {
            Link lease = lease();
            if (breach.commit(importer)) {
                awaitTheBreach(lease);
            }

            region.revoke();

            requireHeld();
        }
        requireReleased();
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseMemoryHeldByAnImporterThatViolatedTheRulesAfterTheRevocation(Breach breach)
            throws Exception {
        try (HostilePeer importer = importer()) {
            Link lease = lease();
            region.revoke();
            if (breach.commit(importer)) {
                awaitTheBreach(lease);
            }

            requireHeld();
        }
        requireReleased();
    }

    @Test
    void shouldTellWhoListensThatTheImporterIsGoneWhenItBreaksTheRules() throws Exception {
        try (HostilePeer importer = importer()) {
            Link lease = lease();
            CountDownLatch gone = new CountDownLatch(1);
            lease.onPeerGone(gone::countDown);

            assertThat(Breach.TOO_LONG.commit(importer)).isTrue();
            awaitTheBreach(lease);

            assertThat(gone.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(closed).isEmpty();
            assertThat(region.leases()).isEqualTo(1);
        }
        assertThat(closed.poll(Patience.SECONDS, TimeUnit.SECONDS)).isNotNull();
    }

    /** Gets the region as an honest importer does. */
    private HostilePeer importer() {
        RegionAddress address = region.address();
        HostilePeer peer = HostilePeer.connect(exporter, HostilePeer.exporterName(address.busId()));
        peer.send(new Frame.Lease(address.regionId(), address.key(), true));
        assertThat(peer.receive()).isInstanceOf(Frame.Grant.class);
        return peer;
    }

    private Link lease() throws InterruptedException {
        Link lease = opened.poll(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(lease).isNotNull();
        engine.add(lease);
        return lease;
    }

    /** The engine has looked, and the bus thread has done what comes of it. */
    private void awaitTheBreach(Link lease) throws InterruptedException {
        Await.until(
                "the breach is noticed",
                () -> {
                    engine.sleep(0);
                    return lease.peerGone();
                });
        // What is due when the first of these turns begins is done when the second one begins.
        try (BusThreadMeter meter = new BusThreadMeter(exporter)) {
            Await.until("two turns of the bus thread", () -> meter.turns() > 2);
        }
    }

    private void requireHeld() {
        assertThat(region.leases()).isEqualTo(1);
        assertThat(exporter.retainedBytes()).isEqualTo(SIZE_BYTES);
        assertThatThrownBy(() -> exporter.export(memory, true, null))
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.IN_USE))
                .hasMessageContaining("leases=1")
                .hasMessageContaining("pids=[" + ProcessHandle.current().pid() + "]");
    }

    private void requireReleased() {
        Await.until("the memory is released", () -> exporter.retainedBytes() == 0);
        assertThat(region.leases()).isZero();
        exporter.export(memory, true, null).close();
    }
}
