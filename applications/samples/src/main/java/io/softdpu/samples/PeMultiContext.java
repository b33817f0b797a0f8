package io.softdpu.samples;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.execution.Context;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One engine for several contexts: one thread, one progress call, and the callbacks of all. The
 * contexts may be of any kinds; here they are four for DMA with four tasks each.
 */
final class PeMultiContext implements Sample {
    private static final int CONTEXTS = 4;
    private static final int TASKS = 4;
    private static final int BYTES = 4096;

    @Override
    public String name() {
        return "pe-multi-context";
    }

    @Override
    public String summary() {
        return "Drives 4 DMA contexts with 4 tasks each by one progress engine.";
    }

    @Override
    public String output() {
        return "The number of completed tasks of each context, all by calls of one progress().";
    }

    @Override
    public String source() {
        return "start() connects each context to the same engine; inFlightTasks() counts the"
                + " tasks of all.";
    }

    @Override
    public List<SampleOption> options() {
        return DmaSampleSetup.OPTIONS;
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        int[] completed = new int[CONTEXTS];
        List<Dma> contexts = new ArrayList<>();
        try (DmaSampleSetup setup = new DmaSampleSetup(settings, CONTEXTS * TASKS, BYTES, TASKS)) {
            for (int c = 0; c < CONTEXTS; c++) {
                contexts.add(start(setup, completed, c));
            }
            for (int i = 0; i < CONTEXTS * TASKS; i++) {
                Dma dma = contexts.get(i % CONTEXTS);
                DmaMemcpyTask task = dma.allocateMemcpy(setup.source(i), setup.destination(i));
                task.setUserData(i);
                setup.submit(task);
            }
            setup.runUntil(
                    () -> setup.engine().inFlightTasks() == 0, contexts.toArray(Context[]::new));
            out.println("completed, data is right: tasks of each=" + Arrays.toString(completed));
            contexts.forEach(Dma::close); // stops them first
        }
    }

    /** A context whose completions are counted in an element of its own. */
    private static Dma start(DmaSampleSetup setup, int[] completed, int index) {
        Dma dma = Dma.create(setup.device());
        dma.setMemcpyTasks(
                TASKS,
                task -> {
                    setup.check((int) task.userData());
                    DmaSampleSetup.free(task);
                    completed[index]++;
                },
                DmaSampleSetup::failed);
        setup.engine().connect(dma);
        dma.start();
        return dma;
    }
}
