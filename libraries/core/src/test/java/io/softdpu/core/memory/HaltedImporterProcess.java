package io.softdpu.core.memory;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.spi.Regions;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * DPU process that imports as told on standard input, one command per line, and prints the result:
 *
 * <ul>
 *   <li>{@code copy BLOB}: copies into the region without a pause, the whole of it each time, first
 *       one value and then the other, and looks before each time whether it may, until it may not;
 *   <li>{@code hold BLOB}: keeps the import;
 *   <li>{@code release}: looks at all that it keeps, and closes them.
 * </ul>
 */
public final class HaltedImporterProcess {
    static final byte FIRST = 0x11;
    static final byte SECOND = 0x22;

    private static final Permissions WRITE = Permissions.of(AccessFlag.PCI_READ_WRITE);

    private HaltedImporterProcess() {}

    /** Argument: the fabric folder. Ends with standard input. */
    public static void main(String[] arguments) throws Exception {
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (Machine dpu = Machine.builder(Side.DPU).fabricFolder(Path.of(arguments[0])).open();
                Device p0 = dpu.findDevice("p0").open()) {
            List<Mmap> held = new ArrayList<>();
            System.out.println("ready");
            String line;
            int round = 0;
            while ((line = input.readLine()) != null) {
                String[] words = line.split(" ");
                switch (words[0]) {
                    case "copy" -> copy(imported(words[1], p0), ++round);
                    case "hold" -> {
                        held.add(imported(words[1], p0));
                        System.out.println("held " + held.size());
                    }
                    case "release" -> {
                        for (Mmap mmap : held) {
                            System.out.println(
                                    "released " + Refusal.statusOf(Regions.checkUse(mmap, WRITE)));
                            mmap.close();
                        }
                        held.clear();
                    }
                    default -> throw new IllegalArgumentException(line);
                }
            }
            held.forEach(Mmap::close);
        }
    }

    private static Mmap imported(String blob, Device device) {
        return Mmap.createFromExport(HexFormat.of().parseHex(blob), device);
    }

    private static void copy(Mmap remote, int round) {
        try (remote;
                Arena arena = Arena.ofConfined()) {
            MemorySegment region = Regions.memoryOf(remote);
            MemorySegment first = arena.allocate(region.byteSize()).fill(FIRST);
            MemorySegment second = arena.allocate(region.byteSize()).fill(SECOND);
            Copier copier = new Copier();
            Status usable = Refusal.statusOf(Regions.checkUse(remote, WRITE));
            System.out.println("copying " + round);
            for (long i = 0; usable == Status.SUCCESS; i++) {
                copier.payload(i % 2 == 0 ? first : second, 0, region, 0, region.byteSize());
                usable = Refusal.statusOf(Regions.checkUse(remote, WRITE));
            }
            System.out.println("refused " + round + " " + usable);
        }
    }
}
