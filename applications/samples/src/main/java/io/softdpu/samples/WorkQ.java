package io.softdpu.samples;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyJob;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.linux.text.Text;
import java.io.PrintStream;
import java.util.List;

/**
 * Jobs on a work queue, the older way: no callbacks, the program retrieves jobs that have ended.
 * The context is started without an engine, and the queue is added to it. The queue is shorter than
 * what there is to do, so jobs are submitted until it is full, and then retrieved.
 */
final class WorkQ implements Sample {
    private static final int COPIES = 16;
    private static final int DEPTH = 4;
    private static final int BYTES = 4096;

    @Override
    public String name() {
        return "workq";
    }

    @Override
    public String summary() {
        return "Copies 16 times by DMA jobs on a work queue with room for 4.";
    }

    @Override
    public String output() {
        return "All jobs complete although the queue has room for four at a time.";
    }

    @Override
    public String source() {
        return "copyAll() submits until the queue is full, then retrieves; progressRetrieve()"
                + " takes the place of callbacks.";
    }

    @Override
    public List<SampleOption> options() {
        return DmaSampleSetup.OPTIONS;
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        try (DmaSampleSetup setup = new DmaSampleSetup(settings, COPIES, BYTES, DEPTH);
                Dma dma = Dma.create(setup.device())) {
            dma.start();
            try (WorkQueue queue = WorkQueue.create(DEPTH)) {
                queue.add(dma);
                int completed = copyAll(setup, dma, queue);
                out.println(
                        Text.format(
                                "completed, data is right: jobs=%d, depth=%d", completed, DEPTH));
                queue.remove(dma);
            }
            dma.stop();
        }
    }

    private static int copyAll(DmaSampleSetup setup, Dma dma, WorkQueue queue) {
        JobEvent event = JobEvent.create();
        int submitted = 0;
        int completed = 0;
        DmaMemcpyJob next = job(setup, dma, 0);
        while (completed < COPIES) {
            if (submitted < COPIES && submit(queue, next)) {
                submitted++;
                if (submitted < COPIES) {
                    next = job(setup, dma, submitted);
                }
                continue;
            }
            switch (queue.progressRetrieve(event)) {
                case SUCCESS -> {
                    DmaMemcpyJob done = (DmaMemcpyJob) event.job();
                    setup.check((int) event.userData());
                    done.source().release();
                    done.destination().release();
                    completed++;
                }
                case AGAIN -> setup.deadline().check("end of a job"); // none has ended yet
                case IO_FAILED ->
                        throw new DpuException(
                                event.status(), "job has failed: index=" + event.userData());
                default -> throw new DpuException(Status.UNEXPECTED, "queue has failed");
            }
        }
        return completed;
    }

    private static DmaMemcpyJob job(DmaSampleSetup setup, Dma dma, int index) {
        DmaMemcpyJob job = dma.createMemcpyJob(setup.source(index), setup.destination(index));
        job.setUserData(index);
        return job;
    }

    /** False if there is no room just now: retrieve first. */
    private static boolean submit(WorkQueue queue, DmaMemcpyJob job) {
        Status submitted = queue.trySubmit(job);
        return switch (submitted) {
            case SUCCESS -> true;
            case NO_MEMORY, AGAIN -> false; // the queue is full; the library is busy
            default ->
                    throw new DpuException(
                            submitted, "job was not submitted: index=" + job.userData());
        };
    }
}
