package io.softdpu.samples;

import io.softdpu.compute.Sha;
import io.softdpu.compute.ShaAlgorithm;
import io.softdpu.compute.ShaHashTask;
import io.softdpu.compute.ShaPartialHashTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.text.Text;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * Hashes of a text or a file: as a whole by one task, and in parts by a task that is submitted once
 * per part. Each part but the last is a multiple of the block of the algorithm, so data of one
 * block or less cannot be divided.
 */
final class ShaDigest implements Sample {
    private static final SampleOption TEXT =
            SampleOption.of("text", null, "TEXT", "The text to hash, instead of a default");
    private static final SampleOption FILE =
            SampleOption.of("file", null, "FILE", "The file to hash, instead of a text");

    private static final String DEFAULT_TEXT =
            "This text was hashed by SHA: as a whole by one task, and in parts by another, which"
                    + " was submitted once per part. Both give the same digest.";

    private static final ShaAlgorithm ALGORITHM = ShaAlgorithm.SHA256;
    private static final int MAX_PARTS = 4;

    @Override
    public String name() {
        return "sha";
    }

    @Override
    public String summary() {
        return "Hashes a text or a file by SHA tasks, as a whole and in parts.";
    }

    @Override
    public String output() {
        return "Both digests are equal, and those of `sha256sum`; what is no longer than a block is"
                + " hashed as a whole alone.";
    }

    @Override
    public String source() {
        return "Program.hashWhole() submits one task; hashInParts() submits another once per part,"
                + " and marks the last.";
    }

    @Override
    public List<String> exampleArguments() {
        return List.of("--text abc");
    }

    @Override
    public List<SampleOption> options() {
        return List.of(SampleOption.DEVICE, TEXT, FILE, SampleOption.TIMEOUT);
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        Deadline deadline = Deadline.in(settings.timeout());
        try (SampleInput input = SampleInput.open(settings, TEXT, FILE, DEFAULT_TEXT);
                Machine machine = Machine.builder(Side.DPU).topology(settings.topology()).open();
                Device device =
                        SampleDevices.forSha(machine, settings.value(SampleOption.DEVICE)).open();
                SharedMemory memory = input.allocate();
                SharedMemory digests = SharedMemory.allocate(ALGORITHM.digestBytes());
                Mmap data = mmap(memory, device);
                Mmap results = mmap(digests, device);
                BufInventory inventory = BufInventory.create(2);
                ProgressEngine engine = ProgressEngine.create();
                Sha sha = Sha.create(device)) {
            input.fill(memory.segment().asSlice(0, input.sizeBytes()));
            inventory.start();
            // The callbacks do nothing: the program awaits each task, and looks at its status.
            sha.setHashTasks(1, _ -> {}, _ -> {});
            sha.setPartialHashTasks(1, _ -> {}, _ -> {});
            engine.start(sha, deadline.remaining());
            Program program =
                    new Program(sha, engine, deadline, inventory, data, results, input.sizeBytes());
            program.check(out);
        }
    }

    private static Mmap mmap(SharedMemory memory, Device device) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(Permissions.LOCAL_READ_WRITE)
                .addDevice(device)
                .start();
    }

    private record Program(
            Sha sha,
            ProgressEngine engine,
            Deadline deadline,
            BufInventory inventory,
            Mmap data,
            Mmap results,
            long sizeBytes) {

        void check(PrintStream out) {
            MemorySegment hashed = data.segment().asSlice(0, sizeBytes);
            byte[] expected = CopyMessage.digest(hashed.asByteBuffer());
            byte[] whole = hashWhole();
            out.println(Text.format("whole: bytes=%d, sha256=%s", sizeBytes, hex(whole)));
            require("whole", whole, expected);
            long blockBytes = sha.capabilities().partialHashBlockBytes(ALGORITHM);
            if (sizeBytes <= blockBytes) {
                out.println(
                        Text.format(
                                "not hashed in parts, since it is no longer than a block: bytes=%d,"
                                        + " blockBytes=%d",
                                sizeBytes, blockBytes));
                return;
            }
            long blocks = (sizeBytes + blockBytes - 1) / blockBytes;
            long partBytes = (blocks + MAX_PARTS - 1) / MAX_PARTS * blockBytes;
            byte[] inParts = hashInParts(partBytes);
            out.println(
                    Text.format(
                            "in parts: parts=%d, sha256=%s",
                            (sizeBytes + partBytes - 1) / partBytes, hex(inParts)));
            require("in parts", inParts, expected);
        }

        private byte[] hashWhole() {
            Buf source = inventory.bufByData(data, 0, sizeBytes);
            Buf destination = inventory.bufByAddress(results, 0, ALGORITHM.digestBytes());
            ShaHashTask task = sha.allocateHash(ALGORITHM, source, destination);
            try {
                complete(task);
                return digest();
            } finally {
                free(task, source, destination);
            }
        }

        private byte[] hashInParts(long partBytes) {
            Buf source = inventory.bufByData(data, 0, partBytes);
            Buf destination = inventory.bufByAddress(results, 0, ALGORITHM.digestBytes());
            ShaPartialHashTask task = sha.allocatePartialHash(ALGORITHM, source, destination);
            try {
                for (long at = 0; at < sizeBytes; at += partBytes) {
                    long length = Math.min(partBytes, sizeBytes - at);
                    source.reuseByData(data, at, length);
                    task.setFinal(at + length == sizeBytes);
                    complete(task);
                }
                return digest();
            } finally {
                free(task, source, destination);
            }
        }

        /** Submits a task, and progresses until it has ended. */
        private void complete(Task task) {
            Status submitted = task.trySubmit();
            while (submitted == Status.AGAIN) {
                engine.progress();
                deadline.check("room for a task");
                submitted = task.trySubmit();
            }
            if (submitted != Status.SUCCESS) {
                throw new DpuException(submitted, "hash was refused: reason=" + task.refusal());
            }
            engine.runUntil(() -> sha.inFlightTasks() == 0, deadline.remaining());
            if (task.status() != Status.SUCCESS) {
                throw new DpuException(task.status(), "hash has failed: task=" + task);
            }
        }

        private byte[] digest() {
            return results.segment()
                    .asSlice(0, ALGORITHM.digestBytes())
                    .toArray(ValueLayout.JAVA_BYTE);
        }

        /**
         * Not in flight, which it is after a failed wait: the close of the context ends it then.
         */
        private void free(Task task, Buf source, Buf destination) {
            if (sha.inFlightTasks() == 0) {
                task.free();
                source.release();
                destination.release();
            }
        }

        private static void require(String which, byte[] found, byte[] expected) {
            if (!Arrays.equals(found, expected)) {
                throw new WrongDataException(
                        Text.format(
                                "digest is wrong: hash=%s, found=%s, expected=%s",
                                which, hex(found), hex(expected)));
            }
        }

        private static String hex(byte[] digest) {
            return HexFormat.of().formatHex(digest);
        }
    }
}
