package io.softdpu.compute;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Host process that exports memory and prints the blob. Argument: the fabric folder. On standard
 * input, a line each: {@code sum} (of all bytes), {@code exit}.
 */
public final class HostMemoryProcess {
    static final int SIZE = 2 << 20;
    static final byte FILLED_WITH = 0x5a;

    private HostMemoryProcess() {}

    /** Ends with {@code exit} or with standard input. */
    public static void main(String[] arguments) throws Exception {
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (Machine machine =
                        Machine.builder(Side.HOST).fabricFolder(Path.of(arguments[0])).open();
                Device device = machine.findDevice("pf0").open();
                SharedMemory memory = SharedMemory.allocate(SIZE);
                Mmap mmap =
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.of(AccessFlag.PCI_READ_WRITE))
                                .addDevice(device)
                                .start()) {
            memory.segment().fill(FILLED_WITH);
            System.out.println("blob " + HexFormat.of().formatHex(mmap.exportPci(device)));
            String line;
            while ((line = input.readLine()) != null && !line.equals("exit")) {
                System.out.println("sum " + sum(memory.segment()));
            }
        }
    }

    private static long sum(MemorySegment memory) {
        long sum = 0;
        for (long i = 0; i < memory.byteSize(); i++) {
            sum += memory.get(ValueLayout.JAVA_BYTE, i);
        }
        return sum;
    }
}
