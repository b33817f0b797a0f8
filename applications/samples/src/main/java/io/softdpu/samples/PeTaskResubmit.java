package io.softdpu.samples;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.linux.text.Text;
import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.List;

/**
 * Few tasks, many bufs: a task that has completed is the program's again inside its callback, so it
 * takes the next pair of bufs and is submitted anew. Nothing is allocated from the pool meanwhile.
 */
final class PeTaskResubmit implements Sample {
    private static final int TASKS = 4;
    private static final int COPIES = 16;
    private static final int BYTES = 4096;

    @Override
    public String name() {
        return "pe-task-resubmit";
    }

    @Override
    public String summary() {
        return "Copies 16 pairs of bufs with 4 DMA tasks, submitted again inside their callbacks.";
    }

    @Override
    public String output() {
        return "Four tasks make sixteen copies; no task is allocated after the first four.";
    }

    @Override
    public String source() {
        return "Program.onCompleted() gives the completed task new bufs and submits it again.";
    }

    @Override
    public List<SampleOption> options() {
        return DmaSampleSetup.OPTIONS;
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        try (DmaSampleSetup setup = new DmaSampleSetup(settings, COPIES, BYTES, TASKS);
                Dma dma = Dma.create(setup.device())) {
            Program program = new Program(setup);
            dma.setMemcpyTasks(TASKS, program::onCompleted, DmaSampleSetup::failed);
            setup.engine().connect(dma);
            dma.start();

            for (int i = 0; i < TASKS; i++) {
                program.begin(dma.allocateMemcpy(setup.source(i), setup.destination(i)), i);
            }
            while (program.completed < COPIES) {
                setup.engine().progress();
                program.submitWhatWaits();
                setup.deadline().check("completion of the copies");
            }
            out.println(
                    Text.format(
                            "completed, data is right: copies=%d, tasks=%d",
                            program.completed, TASKS));
        }
    }

    private static final class Program {
        private final DmaSampleSetup setup;
        private final ArrayDeque<DmaMemcpyTask> waiting = new ArrayDeque<>();
        private int begun;
        private int completed;

        Program(DmaSampleSetup setup) {
            this.setup = setup;
        }

        void begin(DmaMemcpyTask task, int copy) {
            begun++;
            task.setUserData(copy);
            submit(task);
        }

        void onCompleted(DmaMemcpyTask task) {
            setup.check((int) task.userData());
            completed++;
            if (begun == COPIES) {
                DmaSampleSetup.free(task);
                return;
            }
            Buf source = task.source();
            Buf destination = task.destination();
            task.setSource(setup.source(begun)).setDestination(setup.destination(begun));
            source.release();
            destination.release();
            begin(task, begun);
        }

        /** Inside a callback one cannot wait for room; what finds none is left to the main loop. */
        private void submit(DmaMemcpyTask task) {
            Status submitted = task.trySubmit();
            if (submitted == Status.AGAIN) {
                waiting.add(task);
            } else if (submitted != Status.SUCCESS) {
                throw new DpuException(
                        submitted, "task was not submitted: index=" + task.userData());
            }
        }

        void submitWhatWaits() {
            for (int left = waiting.size(); left > 0; left--) {
                submit(waiting.remove());
            }
        }
    }
}
