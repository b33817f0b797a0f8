package io.softdpu.benchmarks;

import io.softdpu.compute.Sha;
import io.softdpu.compute.ShaAlgorithm;
import io.softdpu.compute.ShaHashJob;
import io.softdpu.compute.ShaHashTask;
import io.softdpu.compute.ShaPartialHashTask;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.io.IOException;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * SHA-256 of 4 KiB and of 1 GiB: by the JDK's digest of an array, and as a SHA task or job. The
 * gibibyte is a block of 64 MiB, hashed 16 times in one hash, so that both sides fit in memory
 * twice; it is larger than the caches.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ShaBenchmark {
    private static final int SMALL_BYTES = 4096;
    private static final int BLOCK_BYTES = 64 << 20;
    private static final int BLOCKS = 16;
    private static final ShaAlgorithm ALGORITHM = ShaAlgorithm.SHA256;
    private static final int DIGEST_BYTES = ALGORITHM.digestBytes();

    private final Folder folder = Folder.make();
    private final SharedMemory memory = SharedMemory.allocate(BLOCK_BYTES);
    private final SharedMemory results = SharedMemory.allocate(4096);
    private final Mmap data = Mmap.create();
    private final Mmap digests = Mmap.create();
    private final BufInventory inventory = BufInventory.create(4);
    private final JobEvent event = JobEvent.create();
    private final byte[] array = new byte[BLOCK_BYTES];
    private final byte[] digestOfArray = new byte[DIGEST_BYTES];
    private MessageDigest digest;
    private Machine machine;
    private Device device;
    private ProgressEngine engine;
    private Sha sha;
    private Sha jobs;
    private WorkQueue queue;
    private Buf small;
    private Buf block;
    private Buf destination;
    private Buf jobDestination;
    private ShaHashTask task;
    private ShaPartialHashTask parts;
    private ShaHashJob job;
    private int completed;

    @Setup
    public void setUp() throws NoSuchAlgorithmException {
        digest = MessageDigest.getInstance(ALGORITHM.standardName());
        machine = Machine.builder(Side.DPU).fabricFolder(folder.path()).open();
        device = machine.findDevice("p0").open();
        start(data, memory);
        start(digests, results);
        inventory.start();
        small = inventory.bufByData(data, 0, SMALL_BYTES);
        block = inventory.bufByData(data, 0, BLOCK_BYTES);
        destination = inventory.bufByAddress(digests, 0, DIGEST_BYTES);
        jobDestination = inventory.bufByAddress(digests, 100, DIGEST_BYTES);
        engine = ProgressEngine.create();
        sha = Sha.create(device);
        sha.setHashTasks(1, _ -> completed++, failed -> fail(failed.status()));
        sha.setPartialHashTasks(1, _ -> completed++, failed -> fail(failed.status()));
        engine.connect(sha);
        sha.start();
        task = sha.allocateHash(ALGORITHM, small, destination);
        parts = sha.allocatePartialHash(ALGORITHM, block, destination);
        jobs = Sha.create(device);
        jobs.start();
        queue = WorkQueue.create(1);
        queue.add(jobs);
        job = jobs.createHashJob(ALGORITHM, small, jobDestination);
    }

    private void start(Mmap mmap, SharedMemory over) {
        mmap.setMemory(over).setPermissions(Permissions.LOCAL_READ_WRITE).addDevice(device).start();
    }

    private static void fail(Status status) {
        throw new IllegalStateException("task has failed: status=" + status);
    }

    @TearDown
    public void tearDown() throws IOException {
        queue.close();
        jobs.close();
        task.free();
        parts.free();
        small.release();
        block.release();
        destination.release();
        jobDestination.release();
        sha.close();
        engine.close();
        inventory.close();
        data.close();
        digests.close();
        memory.close();
        results.close();
        device.close();
        machine.close();
        folder.close();
    }

    /** What the task and the job are measured against. */
    @Benchmark
    public byte[] digestOf4KiB() throws DigestException {
        digest.update(array, 0, SMALL_BYTES);
        digest.digest(digestOfArray, 0, DIGEST_BYTES);
        return digestOfArray;
    }

    /** One task is submitted, and progress completes it. */
    @Benchmark
    public int taskOf4KiB() {
        task.submit();
        engine.progress();
        destination.resetDataLength();
        return completed;
    }

    /** One job is submitted to a work queue, and retrieved. */
    @Benchmark
    public Status jobOf4KiB() {
        queue.submit(job);
        Status status = queue.progressRetrieve(event);
        if (status != Status.SUCCESS) {
            throw new IllegalStateException("job has not ended: status=" + status);
        }
        jobDestination.resetDataLength();
        return status;
    }

    /** What the hash in parts is measured against. */
    @Benchmark
    public byte[] digestOf1GiB() throws DigestException {
        for (int i = 0; i < BLOCKS; i++) {
            digest.update(array, 0, BLOCK_BYTES);
        }
        digest.digest(digestOfArray, 0, DIGEST_BYTES);
        return digestOfArray;
    }

    /** A task of 16 parts, each of which progress completes slice by slice. */
    @Benchmark
    public int partsOf1GiB() {
        parts.setFinal(false);
        for (int i = 1; i <= BLOCKS; i++) {
            parts.setFinal(i == BLOCKS).submit();
            while (sha.inFlightTasks() > 0) {
                engine.progress();
            }
        }
        destination.resetDataLength();
        return completed;
    }
}
