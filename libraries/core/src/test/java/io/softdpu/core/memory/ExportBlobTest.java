package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.memory.wire.ExportDescriptor;
import io.softdpu.core.spi.BusServices;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Export blobs that were damaged in transit, are of another machine, or are outdated: each is
 * refused with the status of its field and leaves nothing behind.
 */
@Tag(Soak.TAG)
class ExportBlobTest {
    private static final int SIZE = 3 * 4096 + 100;
    private static final long IMPORT_LIMIT = 1 << 20;
    private static final Permissions ALL =
            Permissions.of(
                    AccessFlag.LOCAL_READ_WRITE,
                    AccessFlag.PCI_READ_WRITE,
                    AccessFlag.RDMA_READ,
                    AccessFlag.RDMA_WRITE);

    /** The fields of a blob of pf0, and where each ends. */
    private enum Field {
        MAGIC(4),
        VERSION(6),
        KIND(7),
        SIDE(8),
        PERMISSIONS(12),
        REMOTE_KEY(16),
        ADDRESS(24),
        GID(40),
        TOPOLOGY(56),
        BOOT_ID(72),
        FABRIC_ID(88),
        BUS_ID(104),
        REGION_ID(112),
        KEY(128),
        SIZE_OF_REGION(136),
        NAME_LENGTH(137),
        NAME(140),
        CHECK(144);

        private final int end;

        Field(int end) {
            this.end = end;
        }

        static Field at(int offset) {
            return Arrays.stream(values()).filter(f -> offset < f.end).findFirst().orElseThrow();
        }
    }

    @TempDir Path folder;
    private Machines machines;
    private Machine host;
    private Machine dpu;
    private Device pf0;
    private Device p0;
    private Mmap mmap;
    private byte[] pci;
    private byte[] rdma;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        host = machines.open(Side.HOST);
        dpu =
                machines.add(
                        Machine.builder(Side.DPU)
                                .fabricFolder(machines.folder())
                                .importLimitBytes(IMPORT_LIMIT)
                                .open());
        pf0 = machines.device(host, "pf0");
        p0 = machines.device(dpu, "p0");
        mmap = exported(ALL, SIZE);
        pci = mmap.exportPci(pf0);
        rdma = mmap.exportRdma(pf0);
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private Mmap exported(Permissions permissions, long sizeBytes) {
        return machines.add(
                Mmap.create()
                        .setMemory(machines.add(SharedMemory.allocate(sizeBytes)))
                        .setPermissions(permissions)
                        .addDevice(pf0)
                        .start());
    }

    @Test
    void shouldRefuseEachByteThatIsNotAsItWasSent(SeededRandom random) {
        long began = System.nanoTime();
        Map<Field, Integer> refused = new EnumMap<>(Field.class);
        LeakCheck before = LeakCheck.begin(folder);
        for (byte[] blob : List.of(pci, rdma)) {
            for (int at = 0; at < blob.length; at++) {
                for (int value : otherValues(blob[at], random)) {
                    byte[] changed = blob.clone();
                    changed[at] = (byte) value;
                    Field field = Field.at(at);
                    assertThat(statusOf(changed, p0))
                            .as("field %s, offset %d, value %d", field, at, value)
                            .isEqualTo(
                                    field == Field.VERSION
                                            ? Status.UNSUPPORTED_VERSION
                                            : Status.INVALID_VALUE);
                    refused.merge(field, 1, Integer::sum);
                }
            }
        }
        before.assertNothingLeft();
        assertThat(refused).containsOnlyKeys(Field.values());
        assertThat(leases()).isZero();
        Soak.report(
                "export-blob-bytes",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                "refused=" + refused.toString().replaceAll("[{}]", "").replace(", ", " "));
    }

    /** As somebody would change it who knows the check: what remains is refused for what it is. */
    @Test
    void shouldRefuseEachFieldOfAnAddressThatLeadsElsewhere(SeededRandom random) {
        long began = System.nanoTime();
        Map<Field, Map<Status, Integer>> refused = new EnumMap<>(Field.class);
        LeakCheck before = LeakCheck.begin(folder);
        for (byte[] blob : List.of(pci, rdma)) {
            ExportDescriptor good = ExportDescriptor.decode(blob);
            for (int at = Field.GID.end; at < Field.KEY.end; at++) {
                for (int value : otherValues(blob[at], random)) {
                    byte[] changed = blob.clone();
                    changed[at] = (byte) value;
                    Status seen = statusOf(withCheck(changed, good), p0);
                    Field field = Field.at(at);
                    assertThat(seen)
                            .as("field %s, offset %d, value %d", field, at, value)
                            .isEqualTo(
                                    field == Field.TOPOLOGY
                                            ? Status.BAD_CONFIG
                                            : isOfANetwork(field, good)
                                                    ? Status.SUCCESS
                                                    : Status.NOT_FOUND);
                    refused.computeIfAbsent(field, f -> new EnumMap<>(Status.class))
                            .merge(seen, 1, Integer::sum);
                }
            }
        }
        before.assertNothingLeft();
        assertThat(leases()).isZero();
        Soak.report(
                "export-blob-fields",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                "refused=" + refused.toString().replaceAll("[{}]", "").replace(", ", " "));
    }

    /**
     * Memory of another kernel or folder that is reached by its key: nobody can be asked for it.
     */
    private static boolean isOfANetwork(Field field, ExportDescriptor of) {
        return of.kind() == ExportDescriptor.Kind.RDMA
                && (field == Field.BOOT_ID || field == Field.FABRIC_ID);
    }

    @Test
    void shouldRefuseEachOtherLength() {
        LeakCheck before = LeakCheck.begin(folder);
        for (byte[] blob : List.of(pci, rdma)) {
            assertThat(blob).hasSize(Field.CHECK.end);
            for (int length = 0; length <= 2 * blob.length; length++) {
                if (length != blob.length) {
                    assertThat(statusOf(Arrays.copyOf(blob, length), p0))
                            .as("length %d", length)
                            .isEqualTo(Status.INVALID_VALUE);
                }
            }
            assertThat(statusOf(Arrays.copyOf(blob, 1 << 20), p0)).isEqualTo(Status.INVALID_VALUE);
        }
        before.assertNothingLeft();
        assertThat(leases()).isZero();
    }

    @Test
    void shouldRefuseWhatIsOfAnotherPlaceOrAsksForMore() {
        Device p1 = machines.device(dpu, "p1");
        LeakCheck before = LeakCheck.begin(folder);
        RegionAddress.Id other = new RegionAddress.Id(1, 2);
        for (byte[] blob : List.of(pci, rdma)) {
            ExportDescriptor d = ExportDescriptor.decode(blob);
            RegionAddress r = d.region();
            Status ofAnotherPlace =
                    isOfANetwork(Field.BOOT_ID, d) ? Status.SUCCESS : Status.NOT_FOUND;
            assertRefused(ofAnotherPlace, d, a -> region(a, other, a.fabricId(), a.key(), SIZE));
            assertRefused(ofAnotherPlace, d, a -> region(a, a.bootId(), other, a.key(), SIZE));
            assertRefused(
                    Status.NOT_FOUND, d, a -> region(a, a.bootId(), a.fabricId(), other, SIZE));
            for (long longer : new long[] {SIZE - 1, SIZE + 1, SIZE + 4096, IMPORT_LIMIT}) {
                assertRefused(
                        Status.INVALID_VALUE,
                        d,
                        a -> region(a, a.bootId(), a.fabricId(), a.key(), longer));
            }
            for (long tooBig : new long[] {IMPORT_LIMIT + 1, 1L << 40, Long.MAX_VALUE >> 16}) {
                assertRefused(
                        Status.TOO_BIG,
                        d,
                        a -> region(a, a.bootId(), a.fabricId(), a.key(), tooBig));
            }
            assertThat(statusOf(copy(d, r, new byte[16], d.permissions()).encode(), p0))
                    .isEqualTo(Status.BAD_CONFIG);
        }
        assertThat(statusOf(pci, p1)).as("not the parent").isEqualTo(Status.NOT_PERMITTED);
        assertThat(statusOf(pci, pf0)).as("the exporter").isEqualTo(Status.NOT_PERMITTED);
        Mmap readable = exported(Permissions.of(AccessFlag.PCI_READ_ONLY), 4096);
        ExportDescriptor read = ExportDescriptor.decode(readable.exportPci(pf0));
        byte[] raised =
                copy(read, read.region(), read.topologyDigest(), AccessFlag.PCI_READ_WRITE.bit())
                        .encode();
        assertThat(statusOf(raised, p0)).as("more than granted").isEqualTo(Status.NOT_PERMITTED);
        mmap.stop();
        assertThat(statusOf(pci, p0)).as("stopped").isEqualTo(Status.NOT_FOUND);
        assertThat(statusOf(rdma, p0)).as("stopped").isEqualTo(Status.NOT_FOUND);
        mmap.start();
        assertThat(statusOf(pci, p0)).as("of the start before").isEqualTo(Status.NOT_FOUND);
        mmap.close();
        assertThat(statusOf(pci, p0)).as("closed").isEqualTo(Status.NOT_FOUND);
    }

    @Test
    @StartsProcesses
    void shouldRefuseTheBlobOfAnExporterThatWasKilled(Processes processes) {
        ChildProcess exporter =
                processes.start(
                        JavaCommand.ofClass(ExporterProcess.class)
                                .withArguments(machines.folder().toString(), "sleep"));
        String line = exporter.awaitLine("^blob ");
        byte[] blob = HexFormat.of().parseHex(line.substring("blob ".length()));
        exporter.kill();
        exporter.awaitExit();
        LeakCheck before = LeakCheck.begin();
        assertThat(statusOf(blob, p0)).isEqualTo(Status.NOT_FOUND);
        before.assertNothingLeft();
    }

    private void assertRefused(
            Status expected, ExportDescriptor of, UnaryOperator<RegionAddress> change) {
        RegionAddress region = change.apply(of.region());
        byte[] blob = copy(of, region, of.topologyDigest(), of.permissions()).encode();
        assertThat(statusOf(blob, p0)).as("%s", region).isEqualTo(expected);
    }

    private static RegionAddress region(
            RegionAddress of,
            RegionAddress.Id bootId,
            RegionAddress.Id fabricId,
            RegionAddress.Id key,
            long sizeBytes) {
        return new RegionAddress(bootId, fabricId, of.busId(), of.regionId(), key, sizeBytes);
    }

    private static ExportDescriptor copy(
            ExportDescriptor of, RegionAddress region, byte[] topology, int permissions) {
        return new ExportDescriptor(
                of.kind(),
                permissions,
                of.remoteKey(),
                of.address(),
                of.gid(),
                topology,
                region,
                of.side(),
                of.interfaceName());
    }

    /** The same fields, read without the check, written with the right one. */
    private static byte[] withCheck(byte[] changed, ExportDescriptor good) {
        RegionAddress region =
                RegionAddress.decode(MemorySegment.ofArray(changed), Field.TOPOLOGY.end);
        byte[] topology = Arrays.copyOfRange(changed, Field.GID.end, Field.TOPOLOGY.end);
        return copy(good, region, topology, good.permissions()).encode();
    }

    private static List<Integer> otherValues(byte was, SeededRandom random) {
        List<Integer> values = new ArrayList<>();
        if (Soak.isLong()) {
            for (int value = 0; value < 256; value++) {
                values.add(value);
            }
        } else {
            values.addAll(List.of(0, 255, was ^ 1, was ^ 0x80, random.nextInt(256)));
        }
        values.removeIf(value -> value.byteValue() == was);
        return values;
    }

    private Status statusOf(byte[] blob, Device device) {
        try (Mmap imported = Mmap.createFromExport(blob, device, Mapping.ACCESS, Patience.LIMIT)) {
            return imported.state() == Mmap.State.STARTED ? Status.SUCCESS : Status.UNKNOWN;
        } catch (DpuException e) {
            assertThat(e.getMessage()).contains(": ", "=");
            return e.status();
        }
    }

    /** Stopping keeps nothing back where nobody has a lease. */
    private long leases() {
        mmap.stop();
        long retained = BusServices.bus(pf0).retainedBytes();
        mmap.start();
        return retained;
    }
}
