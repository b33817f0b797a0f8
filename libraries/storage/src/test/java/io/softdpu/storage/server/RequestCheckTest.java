package io.softdpu.storage.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.testkit.SeededRandom;
import java.math.BigInteger;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RequestCheckTest {
    private static final int READ = 1;
    private static final int WRITE = 2;
    private static final long GIB = 1L << 30;

    @TempDir private Path folder;

    private final RequestCheck check = new RequestCheck(64 << 10, 4096, 32 << 10, GIB);

    @Test
    void shouldAcceptWhatFitsUpToTheLastByte() {
        assertThat(check.check(READ, 4096, 0, 0)).isEqualTo(Status.SUCCESS);
        assertThat(check.check(WRITE, 4096, 28 << 10, 60 << 10)).isEqualTo(Status.SUCCESS);
        assertThat(check.check(READ, 32 << 10, 0, 32 << 10)).isEqualTo(Status.SUCCESS);
        assertThat(check.check(READ, 4096, 1, 0)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRefuseATypeThatIsNoRequest() {
        for (int type : new int[] {0, 3, -1, Integer.MIN_VALUE}) {
            assertThat(check.check(type, 4096, 0, 0)).isEqualTo(Status.INVALID_VALUE);
        }
    }

    @Test
    void shouldRefuseASizeThatIsNoneOrNoWholeBlocks() {
        for (long size : new long[] {0, 1, 512, 4095, 4097, 0xFFFF_F000L, 0xFFFF_FFFFL}) {
            assertThat(check.check(READ, size, 0, 0)).isEqualTo(Status.INVALID_VALUE);
        }
    }

    @Test
    void shouldRefuseASizeThatTheRdmaDeviceCannotMove() {
        RequestCheck large =
                new RequestCheck(8 * GIB, 4096, 8 * GIB, maxIoSizeBytes(Topology.builtin()));

        assertThat(large.check(READ, GIB, 0, 0)).isEqualTo(Status.SUCCESS);
        assertThat(large.check(WRITE, GIB, 7 * GIB, 7 * GIB)).isEqualTo(Status.SUCCESS);
        for (long size : new long[] {GIB + 4096, 2 * GIB - 4096, 2 * GIB, 2 * GIB + 4096}) {
            assertThat(large.check(READ, size, 0, 0)).isEqualTo(Status.INVALID_VALUE);
            assertThat(large.check(WRITE, size, 0, 0)).isEqualTo(Status.INVALID_VALUE);
        }
    }

    @Test
    void shouldTakeTheLimitOfADeviceThatCanMoveLess() {
        Topology.Builder topology = Topology.builder("limited");
        Topology.builtin().functions().stream()
                .map(f -> f.toBuilder().limit(RdmaCapabilities.MESSAGE_SIZE_LIMIT, 8192).build())
                .forEach(topology::add);
        RequestCheck small =
                new RequestCheck(8 * GIB, 4096, 8 * GIB, maxIoSizeBytes(topology.build()));

        assertThat(small.check(READ, 8192, 0, 0)).isEqualTo(Status.SUCCESS);
        assertThat(small.check(READ, 12_288, 0, 0)).isEqualTo(Status.INVALID_VALUE);
    }

    @Test
    void shouldRefuseAnOffsetOutsideTheVolume() {
        for (long offset :
                new long[] {64 << 10, 1, 4095, -4096, Long.MIN_VALUE, Long.MAX_VALUE & -4096}) {
            assertThat(check.check(READ, 4096, 0, offset)).isEqualTo(Status.INVALID_VALUE);
        }
        assertThat(check.check(READ, 8192, 0, 60 << 10)).isEqualTo(Status.INVALID_VALUE);
    }

    @Test
    void shouldRefuseAnOffsetOutsideTheExportedMemory() {
        for (long offset : new long[] {32 << 10, (28 << 10) + 1, -1, Long.MIN_VALUE}) {
            assertThat(check.check(WRITE, 4096, offset, 0)).isEqualTo(Status.INVALID_VALUE);
        }
        assertThat(check.check(READ, 36 << 10, 0, 0)).isEqualTo(Status.INVALID_VALUE);
    }

    @Test
    void shouldAgreeWithExactArithmetic(SeededRandom random) {
        for (int round = 0; round < 100_000; round++) {
            long size = interesting(random) & 0xFFFF_FFFFL;
            long requester = interesting(random);
            long storage = interesting(random);
            boolean fits =
                    size > 0
                            && size % 4096 == 0
                            && storage % 4096 == 0
                            && within(requester, size, 32 << 10)
                            && within(storage, size, 64 << 10);

            assertThat(check.check(READ, size, requester, storage))
                    .as("size=%d, requester=%d, storage=%d", size, requester, storage)
                    .isEqualTo(fits ? Status.SUCCESS : Status.INVALID_VALUE);
        }
    }

    private long maxIoSizeBytes(Topology topology) {
        try (Machine machine =
                        Machine.builder(Side.TARGET)
                                .fabricFolder(folder)
                                .topology(topology)
                                .open();
                Device device = machine.findDevice("t0").open()) {
            return RequestCheck.maxIoSizeBytes(device.info());
        }
    }

    private static boolean within(long offset, long size, long limit) {
        BigInteger begin = BigInteger.valueOf(offset);
        BigInteger end = begin.add(BigInteger.valueOf(size));
        return begin.signum() >= 0 && end.compareTo(BigInteger.valueOf(limit)) <= 0;
    }

    /** Mostly whole blocks near a border, sometimes anything. */
    private static long interesting(SeededRandom random) {
        long block = random.nextLong(20) * 4096;
        return switch (random.nextInt(8)) {
            case 0 -> random.nextLong();
            case 1 -> block + random.nextLong(-2, 3);
            case 2 -> -block;
            default -> block;
        };
    }
}
