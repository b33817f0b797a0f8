package io.softdpu.samples;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import java.io.PrintStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Work driven by callbacks: the context's start submits the first task, each completion submits the
 * next, the last one stops the context, and its end ends the program. The main loop only calls
 * progress, and could drive many such programs at once.
 */
final class PeReactive implements Sample {
    private static final int COPIES = 16;
    private static final int BYTES = 4096;

    @Override
    public String name() {
        return "pe-reactive";
    }

    @Override
    public String summary() {
        return "Lets callbacks do everything: each of 16 completions begins the next DMA task.";
    }

    @Override
    public String output() {
        return "The states of the context: a callback starts each copy, and the last one stops"
                + " the context.";
    }

    @Override
    public String source() {
        return "Program.onStateChanged() and onCompleted() do the work; the loop in run() only"
                + " calls progress().";
    }

    @Override
    public List<SampleOption> options() {
        return DmaSampleSetup.OPTIONS;
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        try (DmaSampleSetup setup = new DmaSampleSetup(settings, COPIES, BYTES, 1);
                Dma dma = Dma.create(setup.device())) {
            Program program = new Program(setup, dma, out);
            dma.setMemcpyTasks(1, program::onCompleted, DmaSampleSetup::failed);
            dma.setStateChangedCallback(
                    (_, previous, next) -> program.onStateChanged(previous, next));
            setup.engine().connect(dma);
            dma.start();
            while (!program.ended) {
                setup.engine().progress();
                program.submitWhatWaits();
                setup.deadline().check("end of the program");
            }
            out.println("completed, data is right: copies=" + program.copies);
        }
    }

    /** State shared by the callbacks. */
    private static final class Program {
        private final DmaSampleSetup setup;
        private final Dma dma;
        private final PrintStream out;
        private @Nullable DmaMemcpyTask waiting;
        private int copies;
        private boolean ended;

        Program(DmaSampleSetup setup, Dma dma, PrintStream out) {
            this.setup = setup;
            this.dma = dma;
            this.out = out;
        }

        void onStateChanged(ContextState previous, ContextState next) {
            out.println("context: " + previous + " -> " + next);
            switch (next) {
                case RUNNING -> begin();
                case IDLE -> ended = true;
                case STARTING, STOPPING -> {}
            }
        }

        void onCompleted(DmaMemcpyTask task) {
            setup.check((int) task.userData());
            DmaSampleSetup.free(task);
            copies++;
            if (copies < COPIES) {
                begin();
            } else {
                dma.stop(); // from a callback it returns before it is done; the state tells when
            }
        }

        private void begin() {
            DmaMemcpyTask task =
                    dma.allocateMemcpy(setup.source(copies), setup.destination(copies));
            task.setUserData(copies);
            submit(task);
        }

        /** A callback must not call progress, so it cannot wait for room: the main loop does. */
        private void submit(DmaMemcpyTask task) {
            Status submitted = task.trySubmit();
            if (submitted != Status.SUCCESS && submitted != Status.AGAIN) {
                throw new DpuException(
                        submitted, "task was not submitted: index=" + task.userData());
            }
            waiting = submitted == Status.AGAIN ? task : null;
        }

        void submitWhatWaits() {
            if (waiting != null) {
                submit(waiting);
            }
        }
    }
}
