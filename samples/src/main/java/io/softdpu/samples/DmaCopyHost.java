package io.softdpu.samples;

import io.softdpu.comch.ComchClient;
import io.softdpu.core.DpuException;
import io.softdpu.core.Machine;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The host's half of a copy by DMA: puts a text or a file into memory, exports that memory, sends
 * the export to the DPU over a Comm Channel, and waits for the answer. The data itself is not sent:
 * the DPU fetches it, while this program sleeps. Run {@code dma-copy-dpu} beside it, in any order.
 */
final class DmaCopyHost implements Sample {
    private static final String DEFAULT_DEVICE = "pf0";
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
    public List<SampleOption> options() {
        return List.of(
                SampleOption.DEVICE, SampleOption.TEXT, SampleOption.FILE, SampleOption.TIMEOUT);
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        Deadline deadline = new Deadline(settings.timeout());
        byte[] data = data(settings);
        String function = settings.value(SampleOption.DEVICE, DEFAULT_DEVICE);
        try (Machine machine = Machine.open(Side.HOST);
                Device device = machine.findDevice(function).open();
                SharedMemory memory = SharedMemory.allocate(data.length);
                Mmap mmap = exportable(memory, device);
                ProgressEngine engine = ProgressEngine.create();
                ComchClient client = ComchClient.create(device, CopyMessage.SERVER)) {
            MemorySegment bytes = memory.segment().asSlice(0, data.length);
            bytes.copyFrom(MemorySegment.ofArray(data));

            // The client looks for its server for as long as this; neither has to be first.
            client.setConnectTimeout(settings.timeout().toNanos());
            CopyChannel channel = new CopyChannel(client, engine, deadline);
            client.start();
            out.println("waiting for dma-copy-dpu");
            channel.await("the connection", () -> client.state() == ContextState.RUNNING);

            byte[] sha256 = CopyMessage.digest(bytes.asByteBuffer());
            byte[] blob = mmap.exportPci(device);
            channel.send(client.connection(), new CopyMessage(data.length, sha256, blob).encoded());
            out.println("exported: bytes=" + data.length);

            byte[] answer = channel.awaitMessage("the answer of the DPU");
            if (answer.length != 1 || answer[0] != CopyMessage.RIGHT) {
                throw new WrongDataException("the DPU says that the data came over wrong");
            }
            out.println("the DPU has copied it, data is right: bytes=" + data.length);
            channel.stop();
        }
    }

    /** The DPU may read it, and nobody may write it. */
    private static Mmap exportable(SharedMemory memory, Device device) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(Permissions.of(AccessFlag.PCI_READ_ONLY))
                .addDevice(device)
                .start();
    }

    private static byte[] data(SampleSettings settings) {
        String file = settings.value(SampleOption.FILE);
        String text = settings.value(SampleOption.TEXT);
        if (file != null && text != null) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "either a file or a text: file=" + file + ", text=" + text);
        }
        byte[] data =
                file == null
                        ? (text == null ? DEFAULT_TEXT : text).getBytes(StandardCharsets.UTF_8)
                        : read(Path.of(file));
        if (data.length == 0) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "nothing to copy: " + (file == null ? "text is empty" : "file=" + file));
        }
        return data;
    }

    private static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new DpuException(
                    Status.IO_FAILED, "file cannot be read: file=" + file + ", reason=" + e, e);
        }
    }
}
