package io.softdpu.fabric;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Process that imports more memory than its limited address space has room for, and then less. */
public final class ExhaustedImporter {
    /** Size of the large import; of which the limit leaves room for three quarters. */
    static final long LARGE_BYTES = 128L << 20;

    private ExhaustedImporter() {}

    static String toText(RegionAddress address) {
        byte[] bytes = new byte[RegionAddress.WIRE_BYTES];
        address.encode(MemorySegment.ofArray(bytes), 0);
        return HexFormat.of().formatHex(bytes);
    }

    private static RegionAddress fromText(String text) {
        return RegionAddress.decode(MemorySegment.ofArray(HexFormat.of().parseHex(text)), 0);
    }

    /** The descriptors that an import holds: its socket, and the memory that the peer has sent. */
    private static List<String> descriptorsOfPeers() {
        return ResourceSnapshot.now().descriptors().stream()
                .filter(target -> target.startsWith("socket:") || target.startsWith("/memfd:"))
                .toList();
    }

    /** Arguments: the folder, the addresses of the large region and of a small one. */
    public static void main(String[] arguments) throws Exception {
        try (Bus bus = UnfinishedMappingTest.bus(Path.of(arguments[0]))) {
            RegionAddress large = fromText(arguments[1]);
            RegionAddress small = fromText(arguments[2]);
            List<String> ofPeers = descriptorsOfPeers();
            importOf(bus, small).close(); // opens what stays open in this process
            Await.until("unmapped", () -> bus.mappedBytesOfPeers() == 0);
            Await.until("closed", () -> descriptorsOfPeers().equals(ofPeers));
            ResourceSnapshot before = ResourceSnapshot.now();
            limitAddressSpace(LARGE_BYTES / 4 * 3);
            try {
                importOf(bus, large).close();
                System.out.println("imported");
            } catch (ExecutionException e) {
                FabricException failure = (FabricException) e.getCause();
                System.out.println("failed kind=" + failure.kind() + ", " + failure.getMessage());
            }
            Await.until("unmapped", () -> bus.mappedBytesOfPeers() == 0);
            ResourceSnapshot.awaitAgain(before);
            System.out.printf(
                    Locale.ROOT,
                    "left mappedBytes=%d, same=%b%n",
                    bus.mappedBytesOfPeers(),
                    ResourceSnapshot.now().equals(before));
            ImportedRegion again = importOf(bus, small);
            System.out.println("small import mappedBytes=" + bus.mappedBytesOfPeers());
            again.close();
        }
    }

    private static ImportedRegion importOf(Bus bus, RegionAddress region) throws Exception {
        return bus.importRegion(region, true, true, Patience.NANOS)
                .future()
                .get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    private static void limitAddressSpace(long moreBytes) throws IOException, InterruptedException {
        long kibibytes =
                Files.readAllLines(Path.of("/proc/self/status")).stream()
                        .filter(line -> line.startsWith("VmSize:"))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                        .findFirst()
                        .orElseThrow();
        long limit = (kibibytes << 10) + moreBytes;
        int code =
                new ProcessBuilder(
                                "prlimit",
                                "--pid",
                                Long.toString(ProcessHandle.current().pid()),
                                "--as=" + limit)
                        .inheritIO()
                        .start()
                        .waitFor();
        if (code != 0) {
            throw new IllegalStateException("prlimit failed: exit=" + code);
        }
    }
}
