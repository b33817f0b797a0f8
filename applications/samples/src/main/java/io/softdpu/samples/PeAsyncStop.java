package io.softdpu.samples;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.linux.text.Text;
import java.io.PrintStream;
import java.util.List;

/**
 * A stop in the middle of the work: half of the tasks have completed when the context is stopped.
 * It goes to STOPPING, what is in flight fails, and when the last task has been freed it is IDLE.
 *
 * <p>A task that was in flight when the context stopped must be expected to end either way.
 */
final class PeAsyncStop implements Sample {
    private static final int TASKS = 16;
    private static final int BYTES = 4096;

    @Override
    public String name() {
        return "pe-async-stop";
    }

    @Override
    public String summary() {
        return "Stops a context when 8 of its 16 DMA tasks have completed, and sees the rest"
                + " flushed.";
    }

    @Override
    public String output() {
        return "The context stays in STOPPING until each task has ended and is freed, then"
                + " becomes IDLE.";
    }

    @Override
    public String source() {
        return "Both callbacks of configureMemcpyTasks() free their task; submit() expects"
                + " BAD_STATE once the context stops.";
    }

    @Override
    public List<SampleOption> options() {
        return DmaSampleSetup.OPTIONS;
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        try (DmaSampleSetup setup = new DmaSampleSetup(settings, TASKS, BYTES);
                Dma dma = Dma.create(setup.device())) {
            Counts counts = new Counts();
            dma.setMemcpyTasks(
                    TASKS,
                    task -> {
                        setup.check((int) task.userData());
                        DmaSampleSetup.free(task);
                        counts.completed++;
                        if (counts.completed == TASKS / 2) {
                            dma.stop();
                        }
                    },
                    task -> {
                        // Free it here as well: the context is not idle before.
                        DmaSampleSetup.free(task);
                        counts.flushed++;
                    });
            dma.setStateChangedCallback((_, previous, next) -> {
                out.println("context: " + previous + " -> " + next);
                counts.stopped = next == ContextState.IDLE;
            });
            setup.engine().connect(dma);
            dma.start();

            int submitted = 0;
            while (submitted < TASKS && submit(setup, dma, submitted)) {
                submitted++;
            }
            while (!counts.stopped) {
                setup.engine().progress();
                setup.deadline().check("end of the context");
            }

            if (counts.completed < TASKS / 2 || counts.completed + counts.flushed != submitted) {
                throw new WrongDataException(
                        Text.format(
                                "tasks were lost: submitted=%d, completed=%d, flushed=%d",
                                submitted, counts.completed, counts.flushed));
            }
            out.println("stopped, each task has ended: tasks=" + submitted);
        }
    }

    private static final class Counts {
        private int completed;
        private int flushed;
        private boolean stopped;
    }

    /** False if the context was stopped meanwhile, by the callback of an earlier task. */
    private static boolean submit(DmaSampleSetup setup, Dma dma, int index) {
        if (dma.state() != ContextState.RUNNING) {
            return false;
        }
        DmaMemcpyTask task = dma.allocateMemcpy(setup.source(index), setup.destination(index));
        task.setUserData(index);
        Status submitted = task.trySubmit();
        while (submitted == Status.AGAIN) { // no room: complete something first
            setup.engine().progress();
            setup.deadline().check("room for a task");
            submitted = task.trySubmit();
        }
        if (submitted == Status.SUCCESS) {
            return true;
        }
        DmaSampleSetup.free(task);
        if (submitted != Status.BAD_STATE) {
            throw new DpuException(submitted, "task was not submitted: index=" + index);
        }
        return false;
    }
}
