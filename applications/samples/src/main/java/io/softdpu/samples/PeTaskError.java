package io.softdpu.samples;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.text.Text;
import java.io.PrintStream;
import java.util.List;

/**
 * A failed task: of 255 tasks the second loses its memory after it was submitted. It completes with
 * an error, and with DMA that is fatal: the context goes to STOPPING by itself, and the tasks that
 * have not completed by then are flushed. Tasks submitted later than the bad one may still complete
 * before it: no order is promised.
 */
final class PeTaskError implements Sample {
    private static final int TASKS = 255;
    private static final int BAD = 1;
    private static final int BYTES = 1024;

    @Override
    public String name() {
        return "pe-task-error";
    }

    @Override
    public String summary() {
        return "Submits 255 DMA tasks of which the second fails, and recovers the context.";
    }

    @Override
    public String output() {
        return "One bad task stops the context: RUNNING, STOPPING, IDLE; then the context runs"
                + " again.";
    }

    @Override
    public String source() {
        return "submitAll() revokes memory of a submitted task; recover() starts the context"
                + " after the failure.";
    }

    @Override
    public List<SampleOption> options() {
        return DmaSampleSetup.OPTIONS;
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        try (DmaSampleSetup setup = new DmaSampleSetup(settings, TASKS, BYTES);
                SharedMemory memory = SharedMemory.allocate(BYTES);
                Mmap doomed = doomed(setup, memory);
                BufInventory inventory = BufInventory.create(1);
                Dma dma = Dma.create(setup.device())) {
            inventory.start();
            Outcome outcome = new Outcome();
            dma.setMemcpyTasks(
                    TASKS,
                    task -> {
                        setup.check((int) task.userData());
                        outcome.completed++;
                        DmaSampleSetup.free(task);
                    },
                    task -> {
                        if (task.userData() == BAD) {
                            outcome.ofBad = task.status();
                        }
                        outcome.failed++;
                        DmaSampleSetup.free(task);
                    });
            dma.setStateChangedCallback(
                    (_, previous, next) -> out.println("context: " + previous + " -> " + next));
            setup.engine().connect(dma);
            dma.start();

            int submitted = submitAll(setup, dma, doomed, inventory);
            while (dma.state() != ContextState.IDLE) {
                setup.engine().progress();
                setup.deadline().check("end of the context");
            }
            setup.engine().progress(); // what is left is to tell of the last change of state
            check(submitted, outcome, dma);
            out.println("second task ended with: " + outcome.ofBad);
            out.println("context tells why: " + (dma.failure() != null));

            recover(setup, dma);
            out.println("recovered: the context was started again and copies");
        }
    }

    /** Memory of its own for the second task, to be taken away. */
    private static Mmap doomed(DmaSampleSetup setup, SharedMemory memory) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(Permissions.LOCAL_READ_WRITE)
                .addDevice(setup.device())
                .start();
    }

    /** The number of submitted tasks: none can be submitted once the context is stopping. */
    private static int submitAll(
            DmaSampleSetup setup, Dma dma, Mmap doomed, BufInventory inventory) {
        int submitted = 0;
        while (submitted < TASKS && dma.state() == ContextState.RUNNING) {
            Buf destination =
                    submitted == BAD
                            ? inventory.bufByAddress(doomed, 0, BYTES)
                            : setup.destination(submitted);
            DmaMemcpyTask task = dma.allocateMemcpy(setup.source(submitted), destination);
            task.setUserData(submitted);
            Status status = task.trySubmit();
            while (status == Status.AGAIN) { // no room: complete something first
                setup.engine().progress();
                setup.deadline().check("room for a task");
                status = task.trySubmit();
            }
            if (status != Status.SUCCESS) {
                DmaSampleSetup.free(task);
                if (status == Status.BAD_STATE) {
                    break; // the bad task has stopped the context meanwhile
                }
                throw new DpuException(status, "task was not submitted: index=" + submitted);
            }
            if (submitted == BAD) {
                doomed.stop(); // what was valid at submission is not any more
            }
            submitted++;
        }
        return submitted;
    }

    private static void check(int submitted, Outcome outcome, Dma dma) {
        if (outcome.ofBad != Status.BAD_STATE
                || outcome.completed + outcome.failed != submitted
                || dma.failure() == null) {
            throw new WrongDataException(
                    Text.format(
                            "not what was expected: submitted=%d, completed=%d, failed=%d,"
                                    + " second=%s",
                            submitted, outcome.completed, outcome.failed, outcome.ofBad));
        }
    }

    /** A context that has stopped for an error can be started again once all is freed. */
    private static void recover(DmaSampleSetup setup, Dma dma) {
        dma.start();
        DmaMemcpyTask task = dma.allocateMemcpy(setup.source(0), setup.destination(0));
        setup.submit(task);
        setup.runUntil(() -> dma.inFlightTasks() == 0, dma);
        setup.check(0);
    }

    private static final class Outcome {
        private int completed;
        private int failed;
        private Status ofBad = Status.SUCCESS;
    }
}
