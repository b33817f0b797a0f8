package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connection blobs that were damaged or have wrong addresses: rejected without leaks. */
@Tag(Soak.TAG)
@SoftDpuTest(sanitized = false)
class ShmBlobTest {
    private static final int REGION = 40 + 32;

    /** Fields of the region's address, by offset, and the result of a wrong value. */
    private enum Field {
        BOOT_ID(0, 16, Status.NOT_SUPPORTED),
        FABRIC_ID(16, 32, Status.NOT_SUPPORTED),
        BUS_ID(32, 48, Status.NOT_FOUND),
        REGION_ID(48, 56, Status.NOT_FOUND),
        KEY(56, 72, Status.NOT_FOUND),
        SIZE(72, 80, Status.INVALID_VALUE);

        private final int begin;
        private final int end;
        private final Status expected;

        Field(int begin, int end, Status expected) {
            this.begin = begin;
            this.end = end;
            this.expected = expected;
        }
    }

    @Test
    void shouldRefuseEachByteThatIsNotAsItWasSentAndEachAddressThatLeadsElsewhere(
            SoftDpu card, SeededRandom random) {
        long began = System.nanoTime();
        Device device = card.targetDevice();
        ProgressEngine engine = card.engine();
        try (Rdma here = instance(device, engine);
                Rdma there = instance(device, engine)) {
            byte[] blob = there.exportConnection().blob();
            RdmaConnection connection = here.exportConnection();
            LeakCheck before = LeakCheck.begin(card.fabricFolder());
            int bytes = refuseBytes(here, connection, blob, random);
            for (int length = 0; length <= 2 * blob.length; length++) {
                if (length != blob.length) {
                    assertThat(statusOf(here, connection, Arrays.copyOf(blob, length)))
                            .as("length %d", length)
                            .isEqualTo(Status.INVALID_VALUE);
                }
            }
            before.assertNothingLeft();
            Map<Field, Integer> fields = new TreeMap<>();
            for (Field field : Field.values()) {
                for (int i = 0; i < Soak.count(4, 4, 200); i++) {
                    byte[] changed = blob.clone();
                    int at = REGION + random.nextInt(field.begin, field.end);
                    changed[at] ^= (byte) random.nextInt(1, 256);
                    assertThat(outcome(here, engine, HostilePeer.putCheck(changed)))
                            .as("field %s, offset %d", field, at)
                            .isEqualTo(field.expected);
                    fields.merge(field, 1, Integer::sum);
                }
            }
            there.stop();
            Await.byStep("idle", () -> there.state() == ContextState.IDLE, engine::progress);
            assertThat(outcome(here, engine, blob)).as("stopped").isEqualTo(Status.NOT_FOUND);
            connection.disconnect();
            engine.progress();
            here.stop();
            Await.byStep("idle", () -> here.state() == ContextState.IDLE, engine::progress);
            Soak.report(
                    "rdma-blob",
                    random.seed(),
                    Duration.ofNanos(System.nanoTime() - began),
                    Text.format(
                            "changedBytes=%d, %s",
                            bytes, fields.toString().replaceAll("[{}]", "")));
        }
    }

    private static int refuseBytes(
            Rdma here, RdmaConnection connection, byte[] blob, SeededRandom random) {
        int refused = 0;
        int values = Soak.count(5, 5, 255);
        for (int at = 0; at < blob.length; at++) {
            for (int i = 1; i <= values; i++) {
                byte[] changed = blob.clone();
                changed[at] ^= (byte) (Soak.isLong() ? i : random.nextInt(1, 256));
                assertThat(statusOf(here, connection, changed))
                        .as("offset %d, value %d", at, changed[at])
                        .isEqualTo(
                                at == 4 || at == 5
                                        ? Status.UNSUPPORTED_VERSION
                                        : Status.INVALID_VALUE);
                refused++;
            }
        }
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.EXPORTED);
        return refused;
    }

    private static Status statusOf(Rdma here, RdmaConnection connection, byte[] blob) {
        try {
            here.connect(blob, connection);
            return Status.SUCCESS;
        } catch (DpuException e) {
            return e.status();
        }
    }

    /** Result of a separate connection. */
    private static Status outcome(Rdma here, ProgressEngine engine, byte[] blob) {
        RdmaConnection connection = here.exportConnection();
        Status refused = statusOf(here, connection, blob);
        if (refused != Status.SUCCESS) {
            connection.disconnect();
            engine.progress();
            return refused;
        }
        Await.byStep(
                "a failure",
                () -> connection.state() == RdmaConnection.State.FAILED,
                () -> engine.await(Duration.ofMillis(1)));
        return connection.failure();
    }

    private static Rdma instance(Device device, ProgressEngine engine) {
        Rdma rdma = Rdma.create(device);
        rdma.setMaxConnections(4).setConnectionCallback((connection, previous, next) -> {});
        engine.connect(rdma);
        rdma.start();
        return rdma;
    }
}
