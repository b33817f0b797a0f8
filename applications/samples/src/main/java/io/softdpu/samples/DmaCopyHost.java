package io.softdpu.samples;

import io.softdpu.comch.ComchClient;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The host side of a copy by DMA: puts a text or a file into memory, exports that memory, sends the
 * export to the DPU over a Comm Channel, and waits for the answer. The data itself is not sent: the
 * DPU fetches it, while this program sleeps. Run {@code dma-copy-dpu} beside it, in any order.
 */
final class DmaCopyHost implements Sample {
    private static final String DEFAULT_TEXT = "This text was copied by DMA.";

    @Override
    public String name() {
        return "dma-copy-host";
    }

    @Override
    public String summary() {
        return "Exports a text or a file to the DPU, where dma-copy-dpu copies it by DMA.";
    }

    @Override
    public String output() {
        return "The blob is sent, the data is not: the DPU reads it from this process's"
                + " memory. The last line is the DPU's answer.";
    }

    @Override
    public String source() {
        return "exportable() grants the DPU read access alone; run() exports, sends and waits,"
                + " in this order.";
    }

    @Override
    public List<SampleOption> options() {
        return List.of(
                SampleOption.DEVICE, SampleOption.TEXT, SampleOption.FILE, SampleOption.TIMEOUT);
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        Deadline deadline = Deadline.in(settings.timeout());
        String function =
                SampleDevices.hostFunction(
                        settings.topology(), settings.value(SampleOption.DEVICE));
        try (SampleInput source =
                        SampleInput.open(
                                settings, SampleOption.TEXT, SampleOption.FILE, DEFAULT_TEXT);
                Machine machine = Machine.builder(Side.HOST).topology(settings.topology()).open();
                Device device = machine.findDevice(function).open();
                SharedMemory memory = source.allocate();
                Mmap mmap = exportable(memory, device);
                ProgressEngine engine = ProgressEngine.create();
                ComchClient client = ComchClient.create(device, CopyMessage.SERVER)) {
            MemorySegment bytes = memory.segment().asSlice(0, source.sizeBytes());
            source.fill(bytes);

            // The client looks for its server for as long as this; neither has to be first.
            client.setConnectTimeout(settings.timeout());
            MessageChannel channel = new MessageChannel(client, engine, deadline);
            out.println("waiting for dma-copy-dpu");
            engine.start(client, settings.timeout());

            byte[] sha256 = CopyMessage.digest(bytes.asByteBuffer());
            byte[] blob = mmap.exportPci(device);
            channel.send(
                    client.connection(), new CopyMessage(bytes.byteSize(), sha256, blob).encoded());
            out.println("exported: bytes=" + bytes.byteSize());

            byte[] answer = channel.awaitMessage();
            if (answer.length != 1 || answer[0] != CopyMessage.RIGHT) {
                throw new WrongDataException("the DPU says that the data came over wrong");
            }
            out.println("the DPU has copied it, data is right: bytes=" + bytes.byteSize());
        }
    }

    /** An export that the DPU may read and no peer may write. */
    private static Mmap exportable(SharedMemory memory, Device device) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(Permissions.of(AccessFlag.PCI_READ_ONLY))
                .addDevice(device)
                .start();
    }
}
