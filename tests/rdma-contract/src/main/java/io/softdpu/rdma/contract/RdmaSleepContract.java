package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two engines on two threads, which sleep while idle: no wake-up is lost. */
public abstract class RdmaSleepContract extends RdmaContract {
    private static final int ROUNDS = 3000;
    private static final int WINDOW = 16;

    /** For subclasses. */
    protected RdmaSleepContract() {}

    @ParameterizedTest
    @ValueSource(ints = {1, WINDOW})
    void shouldWakeUpForMessagesAndForAcknowledgements(int window) throws Exception {
        withFarThread((near, toFar, far) -> {
            for (int i = 0; i < window; i++) {
                near.receive(near.room(i * 64L, 64), i);
                near.send(toFar, near.data(100_000, 64), i);
            }
            int echoes = 0;
            int sends = 0;
            while (echoes < ROUNDS) {
                Peer.Outcome outcome = awaitNext(near);
                assertThat(outcome.status()).isEqualTo(Status.SUCCESS);
                if (outcome.kind().equals("send")) {
                    sends++;
                    continue;
                }
                echoes++;
                near.receive(near.room(outcome.userData() * 64, 64), outcome.userData());
                near.send(toFar, near.data(100_000, 64), outcome.userData());
            }
            assertThat(sends).isPositive();
        });
    }

    @Test
    void shouldWakeUpWhenASendNeedsManySlotsAndTheReceiverSleeps() throws Exception {
        withFarThread((near, toFar, far) -> {
            near.fill(0, 1_000_000, 5);
            for (int i = 0; i < 10; i++) {
                near.receive(near.room(2_000_000, 1_000_000), i);
                near.send(toFar, near.data(0, 1_000_000), i);
                assertThat(awaitNext(near).status()).isEqualTo(Status.SUCCESS);
                assertThat(awaitNext(near).status()).isEqualTo(Status.SUCCESS);
                assertThat(near.mismatch(2_000_000, 1_000_000, 5)).isEqualTo(-1);
                near.bytes.asSlice(2_000_000, 1_000_000).fill((byte) 0);
            }
        });
    }

    @Test
    void shouldNotSleepOnAReadInProgress() throws Exception {
        withFarThread((near, toFar, far) -> {
            Mmap remote = near.importRdma(far);
            for (int i = 0; i < 20; i++) {
                near.read(
                        toFar,
                        near.inventory.bufByData(remote, 0, Peer.MEMORY_BYTES),
                        near.room(0, Peer.MEMORY_BYTES),
                        i);
                assertThat(awaitNext(near).userData()).isEqualTo(i);
            }
        });
    }

    @FunctionalInterface
    private interface NearPart {
        void run(Peer near, RdmaConnection toFar, byte[] farMmap) throws Exception;
    }

    private static Peer.Outcome awaitNext(Peer near) {
        Await.byStep("a task ends", () -> !near.outcomes.isEmpty(), near::sleep);
        return near.outcomes.remove();
    }

    /**
     * Runs the near part on this thread while the far side, on its own thread, echoes all messages.
     */
    private void withFarThread(NearPart part) throws Exception {
        Peer near = openNear();
        near.start();
        RdmaConnection toFar = near.rdma.exportConnection();
        FarThread far = new FarThread(toFar.blob());
        Thread thread = Thread.ofPlatform().name("far").start(far);
        try {
            assertThat(far.ready.await(Patience.NANOS, TimeUnit.NANOSECONDS)).isTrue();
            near.rdma.connect(far.blob, toFar);
            Peer.drive("connection", () -> toFar.state() == RdmaConnection.State.CONNECTED, near);
            part.run(near, toFar, far.mmap);
        } finally {
            near.stop();
            thread.join();
        }
        if (far.failure.get() != null) {
            throw new AssertionError("the far side failed", far.failure.get());
        }
    }

    private final class FarThread implements Runnable {
        private static final long SLOT_BYTES = 1 << 20;

        private final byte[] nearBlob;
        private final CountDownLatch ready = new CountDownLatch(1);
        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private volatile byte[] blob = new byte[0];
        private volatile byte[] mmap = new byte[0];

        FarThread(byte[] nearBlob) {
            this.nearBlob = nearBlob;
        }

        @Override
        public void run() {
            try (Peer far = Peer.open(environment(), folder(), environment().farSide())) {
                far.start();
                RdmaConnection toNear = far.rdma.exportConnection();
                blob = toNear.blob();
                mmap = far.mmap.exportRdma(far.device);
                far.rdma.connect(nearBlob, toNear);
                ready.countDown();
                Peer.drive(
                        "connection", () -> toNear.state() == RdmaConnection.State.CONNECTED, far);
                echo(far, toNear);
            } catch (Throwable e) {
                failure.set(e);
                ready.countDown();
            }
        }

        private void echo(Peer far, RdmaConnection toNear) {
            for (int i = 0; i < 3; i++) {
                far.receive(far.room(i * SLOT_BYTES, SLOT_BYTES), i);
            }
            while (toNear.state() == RdmaConnection.State.CONNECTED) {
                far.sleep();
                while (!far.outcomes.isEmpty()) {
                    Peer.Outcome outcome = far.outcomes.remove();
                    long slot = outcome.userData();
                    if (outcome.status() != Status.SUCCESS) {
                        continue;
                    }
                    if (outcome.kind().equals("receive")) {
                        far.send(toNear, far.data(slot * SLOT_BYTES, outcome.length()), slot);
                    } else {
                        far.receive(far.room(slot * SLOT_BYTES, SLOT_BYTES), slot);
                    }
                }
            }
        }
    }
}
