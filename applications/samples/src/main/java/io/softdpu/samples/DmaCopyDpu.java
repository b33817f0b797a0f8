package io.softdpu.samples;

import io.softdpu.comch.ComchServer;
import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.file.OutputFile;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The DPU side of a copy by DMA: serves a Comm Channel, imports the memory whose export the host
 * sends, copies it into memory of its own, and reports whether the copy is right. Run {@code
 * dma-copy-host} beside it, in any order.
 */
final class DmaCopyDpu implements Sample {
    /** A text up to here is shown; of more, only how much it is. */
    private static final int SHOWN_BYTES = 1024;

    @Override
    public String name() {
        return "dma-copy-dpu";
    }

    @Override
    public String summary() {
        return "Copies what dma-copy-host exports from the host's memory by DMA.";
    }

    @Override
    public String output() {
        return "The host function that has connected, then the number of copied bytes and the"
                + " text, which no message carried.";
    }

    @Override
    public String source() {
        return "imported() makes an mmap from the host's blob; copy() then treats remote and"
                + " local memory alike.";
    }

    @Override
    public List<SampleOption> options() {
        return List.of(
                SampleOption.DEVICE,
                SampleOption.REPRESENTOR,
                SampleOption.OUTPUT,
                SampleOption.TIMEOUT);
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        Deadline deadline = Deadline.in(settings.timeout());
        Path output =
                settings.isGiven(SampleOption.OUTPUT) ? settings.file(SampleOption.OUTPUT) : null;
        if (output != null) {
            requireReplaceable(output);
        }
        String named = settings.value(SampleOption.REPRESENTOR);
        String port =
                SampleDevices.port(settings.topology(), settings.value(SampleOption.DEVICE), named);
        try (Machine machine = Machine.builder(Side.DPU).topology(settings.topology()).open();
                Device device = machine.findDevice(port).open();
                Representor representor =
                        device.findRepresentor(SampleDevices.representor(device.info(), named))
                                .open();
                ProgressEngine engine = ProgressEngine.create();
                ComchServer server = ComchServer.create(device, representor, CopyMessage.SERVER)) {
            MessageChannel channel = new MessageChannel(server, engine, deadline);
            // The channel looks for itself whether its peer is there.
            server.setConnectedCallback(connection ->
                    out.println("host has connected: function=" + connection.function()));
            server.setRefusedCallback((connection, reason) ->
                    out.println(
                            "a host was refused: function="
                                    + connection.function()
                                    + ", reason="
                                    + reason.getMessage()));
            server.start();
            out.println("waiting for dma-copy-host");
            CopyMessage message = CopyMessage.decode(channel.awaitMessage());

            // Waits for the host's machine, so it belongs here and not into a callback.
            try (Mmap remote = imported(message, device);
                    SharedMemory memory =
                            SampleInput.memoryFor("peer=dma-copy-host", message.sizeBytes());
                    Mmap local = writable(memory, device)) {
                copy(remote, local, message.sizeBytes(), device, engine, deadline);
                MemorySegment copied = memory.segment().asSlice(0, message.sizeBytes());
                boolean right =
                        Arrays.equals(CopyMessage.digest(copied.asByteBuffer()), message.sha256());
                channel.send(
                        channel.sender(),
                        new byte[] {right ? CopyMessage.RIGHT : CopyMessage.WRONG});
                if (!right) {
                    throw new WrongDataException(
                            "what was copied is not what the host has: bytes="
                                    + message.sizeBytes());
                }
                out.println("copied by DMA, data is right: bytes=" + message.sizeBytes());
                show(copied, output, out);
            }
        }
    }

    private static Mmap imported(CopyMessage message, Device device) {
        Mmap remote = Mmap.createFromExport(message.blob(), device);
        if (message.sizeBytes() > remote.sizeBytes()) {
            remote.close();
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "host has exported less than it says: bytes=" + message.sizeBytes());
        }
        return remote;
    }

    private static Mmap writable(SharedMemory memory, Device device) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(Permissions.LOCAL_READ_WRITE)
                .addDevice(device)
                .start();
    }

    /** From the host's memory into our own: to a task, both are bufs like any other. */
    private static void copy(
            Mmap remote,
            Mmap local,
            long sizeBytes,
            Device device,
            ProgressEngine engine,
            Deadline deadline) {
        try (BufInventory inventory = BufInventory.create(2);
                Dma dma = Dma.create(device)) {
            inventory.start();
            boolean[] done = {false};
            dma.setMemcpyTasks(
                    1,
                    task -> {
                        DmaSampleSetup.free(task);
                        done[0] = true;
                    },
                    task -> {
                        Status status = task.status();
                        DmaSampleSetup.free(task);
                        throw new DpuException(status, "copy has failed");
                    });
            engine.connect(dma);
            dma.start();
            DmaMemcpyTask task =
                    dma.allocateMemcpy(
                            inventory.bufByData(remote, 0, sizeBytes),
                            inventory.bufByAddress(local, 0, sizeBytes));
            Status submitted = task.trySubmit();
            while (submitted == Status.AGAIN) {
                engine.progress();
                deadline.check("room for a task");
                submitted = task.trySubmit();
            }
            if (submitted != Status.SUCCESS) {
                DmaSampleSetup.free(task);
                throw new DpuException(submitted, "copy was refused: bytes=" + sizeBytes);
            }
            engine.runUntil(() -> done[0], deadline.remaining(), dma);
        }
    }

    private static void show(MemorySegment copied, @Nullable Path output, PrintStream out) {
        if (output != null) {
            write(copied, output);
            out.println("written: file=" + output);
        } else if (copied.byteSize() <= SHOWN_BYTES) {
            byte[] text = copied.toArray(ValueLayout.JAVA_BYTE);
            out.println("text: " + ForeignText.escape(new String(text, StandardCharsets.UTF_8)));
        }
    }

    /** Before the copy, so that its result is not lost. */
    private static void requireReplaceable(Path file) {
        try {
            OutputFile.requireReplaceable(file);
        } catch (IOException e) {
            throw notWritten(file, e);
        }
    }

    private static void write(MemorySegment data, Path file) {
        try {
            OutputFile.replace(file, data);
        } catch (IOException e) {
            throw notWritten(file, e);
        }
    }

    private static DpuException notWritten(Path file, IOException e) {
        return new DpuException(
                Status.IO_FAILED,
                "file cannot be written: file=" + file + ", reason=" + Reason.of(e),
                e);
    }
}
