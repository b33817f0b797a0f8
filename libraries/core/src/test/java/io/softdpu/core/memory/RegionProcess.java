package io.softdpu.core.memory;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.testkit.Patience;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Process that exports memory, or re-exports an import, and revokes it when told to. Arguments: the
 * fabric folder, the side and its device. On standard input, one command per line: {@code export
 * N}, {@code reexport BLOB N}, {@code stop} (the mmap), {@code close} (the mmap), {@code exit} (in
 * good order), {@code ready N}. Answers to the numbered ones, with their number.
 */
public final class RegionProcess {
    static final int SIZE = 8 << 20;

    private RegionProcess() {}

    /** Ends with {@code exit} or with standard input. */
    public static void main(String[] arguments) throws Exception {
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        Side side = Side.valueOf(arguments[1]);
        try (Machine machine = Machine.builder(side).fabricFolder(Path.of(arguments[0])).open();
                Device device = machine.findDevice(arguments[2]).open()) {
            SharedMemory memory = SharedMemory.allocate(1);
            Mmap mmap = Mmap.create();
            String line;
            while ((line = input.readLine()) != null && !line.equals("exit")) {
                String[] words = line.split(" ");
                switch (words[0]) {
                    case "export" -> {
                        mmap.close();
                        memory.close(); // the next session has memory of its own
                        memory = SharedMemory.allocate(SIZE);
                        mmap = exported(memory, device);
                        say(words[1], mmap.exportPci(device));
                    }
                    case "reexport" -> {
                        mmap.close();
                        mmap =
                                Mmap.createFromExport(
                                        HexFormat.of().parseHex(words[1]),
                                        device,
                                        Mapping.NONE,
                                        Patience.LIMIT);
                        say(words[2], mmap.exportRdma(device));
                    }
                    case "stop" -> mmap.stop();
                    case "close" -> mmap.close();
                    case "ready" -> System.out.println(line);
                    default -> throw new IllegalArgumentException(line);
                }
            }
            mmap.close();
            memory.close();
        }
    }

    private static Mmap exported(SharedMemory memory, Device device) {
        memory.segment().fill((byte) 0x5a);
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(
                        Permissions.of(
                                AccessFlag.LOCAL_READ_WRITE,
                                AccessFlag.PCI_READ_WRITE,
                                AccessFlag.RDMA_READ,
                                AccessFlag.RDMA_WRITE))
                .addDevice(device)
                .start();
    }

    private static void say(String number, byte[] blob) {
        System.out.println("blob " + number + " " + HexFormat.of().formatHex(blob));
    }
}
