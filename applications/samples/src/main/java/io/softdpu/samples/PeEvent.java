package io.softdpu.samples;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ProgressEngine;
import java.io.PrintStream;
import java.util.List;

/**
 * Event mode: the thread sleeps while there is nothing to do.
 *
 * <p>The engine has a file descriptor, {@link ProgressEngine#eventHandle()}, for programs with an
 * event loop of their own (epoll, select, poll). One without, as here, sleeps in {@link
 * ProgressEngine#awaitNotification}, which waits for the same descriptor. Each notification has to
 * be asked for anew.
 */
final class PeEvent implements Sample {
    private static final int TASKS = 16;
    private static final int BYTES = 4096;

    @Override
    public String name() {
        return "pe-event";
    }

    @Override
    public String summary() {
        return "Submits 16 DMA tasks and sleeps until the engine's event handle tells of progress.";
    }

    @Override
    public String output() {
        return "The thread was woken at least once; while it sleeps, it uses no processor"
                + " time.";
    }

    @Override
    public String source() {
        return "The order of requestNotification(), awaitNotification(), clearNotification()"
                + " and progress() in the loop of run().";
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
            dma.setMemcpyTasks(
                    TASKS,
                    task -> {
                        setup.check((int) task.userData());
                        DmaSampleSetup.free(task);
                        completed[0]++;
                    },
                    DmaSampleSetup::failed);
            ProgressEngine engine = setup.engine();
            engine.connect(dma);
            dma.start();
            // Only whether there is one: the number is for an event loop, not for a reader.
            out.println("event handle is there: " + (engine.eventHandle() >= 0));

            for (int i = 0; i < TASKS; i++) {
                DmaMemcpyTask task = dma.allocateMemcpy(setup.source(i), setup.destination(i));
                task.setUserData(i);
                setup.submit(task);
            }

            int wakes = 0;
            while (completed[0] < TASKS) {
                engine.requestNotification(); // arm: work that is there already rings at once
                if (!engine.awaitNotification(setup.deadline().remaining())) {
                    throw new DpuException(
                            Status.TIME_OUT, "no notification: completed=" + completed[0]);
                }
                wakes++;
                engine.clearNotification(); // before progress, or a wake in between is lost
                while (engine.progress()) {
                    setup.deadline().check("completion of the tasks");
                }
            }
            out.println("woken at least once: " + (wakes > 0));
            out.println("completed, data is right: tasks=" + completed[0]);
        }
    }
}
