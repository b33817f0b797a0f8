package io.softdpu.samples;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import java.io.PrintStream;
import java.util.List;

/**
 * Polling, the simplest way: submits tasks, then calls progress until each has called back.
 *
 * <p>Polling answers fastest and keeps a processor busy. No order is promised: the tasks may end in
 * any, so each carries its number as user data.
 */
final class PePolling implements Sample {
    private static final int TASKS = 16;
    private static final int BYTES = 4096;

    @Override
    public String name() {
        return "pe-polling";
    }

    @Override
    public String summary() {
        return "Submits 16 DMA tasks and polls the progress engine until all have completed.";
    }

    @Override
    public String output() {
        return "All tasks are submitted before the first completes: callbacks run inside"
                + " progress() only.";
    }

    @Override
    public String source() {
        return "The loop around progress() in run(), and user data that tells which of the"
                + " tasks has completed.";
    }

    @Override
    public List<SampleOption> options() {
        return DmaSampleSetup.OPTIONS;
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        int[] completed = {0};
        try (DmaSampleSetup setup = new DmaSampleSetup(settings, TASKS, BYTES);
                Dma dma = Dma.create(setup.device())) { // its close stops it
            // Everything is configured while the context is idle.
            dma.setMemcpyTasks(
                    TASKS,
                    task -> {
                        setup.check((int) task.userData());
                        DmaSampleSetup.free(task);
                        completed[0]++;
                    },
                    DmaSampleSetup::failed);
            setup.engine().connect(dma);
            dma.start();

            for (int i = 0; i < TASKS; i++) {
                DmaMemcpyTask task = dma.allocateMemcpy(setup.source(i), setup.destination(i));
                task.setUserData(i);
                setup.submit(task);
            }
            out.println("submitted: tasks=" + TASKS);

            // The copies are made, and the callbacks run, inside progress.
            while (completed[0] < TASKS) {
                setup.engine().progress();
                setup.deadline().check("completion of the tasks");
            }
            out.println("completed, data is right: tasks=" + completed[0]);
        }
    }
}
