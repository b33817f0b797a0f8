package io.softdpu.samples;

import io.softdpu.comch.ComchClient;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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
        try (Source source = source(settings);
                Machine machine = Machine.builder(Side.HOST).topology(settings.topology()).open();
                Device device = machine.findDevice(function).open();
                SharedMemory memory = SharedMemory.allocate(source.sizeBytes());
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

    private static Source source(SampleSettings settings) {
        String file = settings.value(SampleOption.FILE);
        String text = settings.value(SampleOption.TEXT);
        if (file != null && text != null) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "either a file or a text: file=" + file + ", text=" + text);
        }
        Source source =
                file == null
                        ? new TextSource(
                                MemorySegment.ofArray(
                                        (text == null ? DEFAULT_TEXT : text)
                                                .getBytes(StandardCharsets.UTF_8)))
                        : FileSource.open(Path.of(file));
        if (source.sizeBytes() > Integer.MAX_VALUE) {
            long sizeBytes = source.sizeBytes();
            source.close();
            throw new DpuException(
                    Status.TOO_BIG,
                    "file is too large to copy: file="
                            + file
                            + ", bytes="
                            + sizeBytes
                            + ", expected=at most "
                            + Integer.MAX_VALUE);
        }
        if (source.sizeBytes() == 0) {
            source.close();
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "nothing to copy: " + (file == null ? "text is empty" : "file=" + file));
        }
        return source;
    }

    /** Bytes to copy. */
    private interface Source extends AutoCloseable {
        long sizeBytes();

        /** Puts all of them into memory of their size. */
        void fill(MemorySegment memory);

        @Override
        void close();
    }

    private record TextSource(MemorySegment text) implements Source {
        @Override
        public long sizeBytes() {
            return text.byteSize();
        }

        @Override
        public void fill(MemorySegment memory) {
            memory.copyFrom(text);
        }

        @Override
        public void close() {}
    }

    private record FileSource(Path file, CheckedFile opened) implements Source {
        static FileSource open(Path file) {
            try {
                return new FileSource(file, CheckedFile.open(file, FilePolicy.USER_DATA));
            } catch (IOException e) {
                throw unreadable(file, e);
            }
        }

        @Override
        public long sizeBytes() {
            return opened.sizeBytes();
        }

        @Override
        public void fill(MemorySegment memory) {
            try {
                long read = opened.read(memory, 0);
                if (read < memory.byteSize()) {
                    throw new DpuException(
                            Status.IO_FAILED,
                            "file ended while it was read: file="
                                    + file
                                    + ", bytes="
                                    + read
                                    + ", expected="
                                    + memory.byteSize());
                }
            } catch (IOException e) {
                throw unreadable(file, e);
            }
        }

        private static DpuException unreadable(Path file, IOException e) {
            return new DpuException(
                    Status.IO_FAILED, "file cannot be read: file=" + file + ", reason=" + e, e);
        }

        @Override
        public void close() {
            opened.close();
        }
    }
}
