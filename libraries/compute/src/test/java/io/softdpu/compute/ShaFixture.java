package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;

/** Test fixture: a SHA context on the engine of a {@link DmaFixture}, and its memory. */
final class ShaFixture implements AutoCloseable {
    final DmaFixture base;
    final ProgressEngine engine;
    final Sha sha;

    /** Status of each completed task, in the order of the callbacks. */
    final List<Status> ended = new ArrayList<>();

    ShaFixture(Device device) {
        base = new DmaFixture(device);
        engine = base.engine;
        sha = base.add(Sha.create(device));
        engine.connect(sha);
    }

    /** Configures tasks of both types whose ends are written down, and starts. */
    ShaFixture start(int tasks) {
        sha.setHashTasks(tasks, task -> ended.add(task.status()), task -> ended.add(task.status()));
        sha.setPartialHashTasks(
                tasks, task -> ended.add(task.status()), task -> ended.add(task.status()));
        sha.start();
        return this;
    }

    /** Memory with this content. */
    Mmap memoryOf(byte[] data) {
        Mmap mmap = base.local(Math.max(1, data.length));
        MemorySegment.copy(data, 0, mmap.segment(), ValueLayout.JAVA_BYTE, 0, data.length);
        return mmap;
    }

    /** Runs one hash to its end, frees the task and releases the source. */
    Status hash(ShaAlgorithm algorithm, Buf source, Buf destination) {
        ShaHashTask task = sha.allocateHash(algorithm, source, destination);
        Status status = task.trySubmit();
        if (status == Status.SUCCESS) {
            awaitEnd();
            status = task.status();
        }
        task.free();
        source.release();
        return status;
    }

    /** Runs one part to its end. */
    Status part(ShaPartialHashTask task, Buf source, boolean isFinal) {
        task.setSource(source).setFinal(isFinal).submit();
        awaitEnd();
        source.release();
        return task.status();
    }

    /** Until nothing is in flight. */
    void awaitEnd() {
        awaitEnd(sha);
    }

    void awaitEnd(Context context) {
        long until = System.nanoTime() + Patience.DEADLINE.toNanos();
        while (context.inFlightTasks() > 0) {
            engine.progress();
            if (System.nanoTime() > until) {
                throw new AssertionError("tasks are still in flight: " + context.inFlightTasks());
            }
        }
    }

    /** Until a job has ended. */
    static Status retrieve(WorkQueue queue, JobEvent event) {
        long until = System.nanoTime() + Patience.DEADLINE.toNanos();
        Status status = queue.progressRetrieve(event);
        while (status == Status.AGAIN) {
            if (System.nanoTime() > until) {
                throw new AssertionError("no job has ended: inFlight=" + queue.inFlightJobs());
            }
            status = queue.progressRetrieve(event);
        }
        return status;
    }

    /** The digest that the JDK computes. */
    static byte[] expected(ShaAlgorithm algorithm, byte[] data) {
        try {
            return MessageDigest.getInstance(algorithm.standardName()).digest(data);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() throws Exception {
        if (sha.state() == ContextState.RUNNING) {
            sha.stop();
        }
        if (sha.allocatedTasks() == 0) { // a test that fails does not free them
            base.awaitState(sha, ContextState.IDLE);
        }
        base.close();
    }
}
