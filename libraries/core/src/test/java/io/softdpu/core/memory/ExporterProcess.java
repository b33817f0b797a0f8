package io.softdpu.core.memory;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Host process that exports memory, prints the blob, and is then busy in a given way: arguments are
 * the fabric folder and {@code sleep}, {@code compute} or {@code wait}.
 */
public final class ExporterProcess {
    static final int SIZE = 1 << 20;

    private ExporterProcess() {}

    public static void main(String[] arguments) throws Exception {
        Machine host = Machine.builder(Side.HOST).fabricFolder(Path.of(arguments[0])).open();
        Device pf0 = host.findDevice("pf0").open();
        SharedMemory memory = SharedMemory.allocate(SIZE);
        memory.segment().fill((byte) 0x5a);
        Mmap mmap =
                Mmap.create()
                        .setMemory(memory)
                        .setPermissions(
                                Permissions.of(
                                        AccessFlag.LOCAL_READ_WRITE,
                                        AccessFlag.PCI_READ_WRITE,
                                        AccessFlag.RDMA_READ,
                                        AccessFlag.RDMA_WRITE))
                        .addDevice(pf0)
                        .start();
        System.out.println("blob " + HexFormat.of().formatHex(mmap.exportPci(pf0)));
        switch (arguments[1]) {
            case "sleep" -> Thread.sleep(Long.MAX_VALUE);
            case "compute" -> {
                long sum = 0;
                while (true) {
                    sum += System.nanoTime() ^ sum;
                    if (sum == 42) {
                        System.out.println("improbable");
                    }
                }
            }
            case "wait" -> {
                // The blob was the request; nothing is done until its reply has come.
                BufferedReader replies = new BufferedReader(new InputStreamReader(System.in));
                System.out.println("reply " + replies.readLine());
                System.out.println("sees " + memory.segment().get(ValueLayout.JAVA_BYTE, SIZE - 1));
                mmap.close();
                pf0.close();
                host.close();
                memory.close();
            }
            default -> throw new IllegalArgumentException(arguments[1]);
        }
    }
}
