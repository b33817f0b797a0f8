package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LeakCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Stops and closes with tasks in flight, and what is left afterwards. */
public abstract class BlockStopContract extends BlockDataPathContract {
    private static final int TASKS = 16;

    /** For subclasses. */
    protected BlockStopContract() {}

    @Test
    void shouldEndTasksInFlightByAStop() {
        Submitter submitter = start();
        List<Status> ended = new ArrayList<>();
        submitReads(submitter, ended);

        submitter.stop();
        assertThat(ended).hasSize(TASKS).isSubsetOf(Status.SUCCESS, Status.SHUTDOWN);
        submitter.assertEnded();
    }

    @Test
    void shouldEndTasksInFlightByAClose() {
        BlockDevice device = open();
        Submitter submitter = start(device);
        List<Status> ended = new ArrayList<>();
        submitReads(submitter, ended);

        submitter.context.close();
        assertThat(ended).hasSize(TASKS).isSubsetOf(Status.SUCCESS, Status.SHUTDOWN);
        submitter.assertEnded();
        device.close();
    }

    @Test
    void shouldStopInACallback() {
        assumeTrue(environment().features().contains(BlockFeature.FLUSH));
        Submitter submitter = start();
        List<Status> ended = new ArrayList<>();
        Consumer<Task> stopping =
                task -> {
                    ended.add(task.status());
                    task.free();
                    submitter.context.stop();
                };
        for (int i = 0; i < TASKS; i++) {
            Task task = submitter.context.allocateFlush().setUserObject(stopping);
            assertThat(submitter.submit(task)).isEqualTo(Status.SUCCESS);
        }
        Await.byStep(
                "end of the context",
                () -> submitter.context.state() == ContextState.IDLE,
                submitter::progress);
        assertThat(ended).hasSize(TASKS).isSubsetOf(Status.SUCCESS, Status.SHUTDOWN);
        assertThat(ended.getFirst()).isEqualTo(Status.SUCCESS);
        submitter.assertEnded();
    }

    @Test
    void shouldBeStoppingUntilItsTasksAreFreed() {
        BlockDevice device = open();
        Submitter submitter = start(device);
        Buf buf = submitter.room(0, block());
        Task task = submitter.context.allocateRead(0, block(), buf);
        assertThat(submitter.submit(task)).isEqualTo(Status.SUCCESS);
        submitter.context.stop();
        submitter.awaitEnd();
        submitter.progress();
        assertThat(submitter.context.state()).isEqualTo(ContextState.STOPPING);

        task.free();
        buf.release();
        submitter.stop();
        submitter.assertEnded();
    }

    @Test
    void shouldRefuseTasksOfAContextThatStops() {
        Submitter submitter = start();
        Buf buf = submitter.room(0, block());
        Task task = submitter.context.allocateRead(0, block(), buf);
        submitter.context.stop();

        assertThat(task.trySubmit()).isEqualTo(Status.BAD_STATE);
        task.free();
        buf.release();
    }

    @Test
    void shouldLeaveNothingBehind() {
        round(); // whatever is made once in a JVM
        LeakCheck check = LeakCheck.begin();
        for (int i = 0; i < 5; i++) {
            round();
        }
        check.assertNothingLeft();
    }

    private void round() {
        try (BlockDevice device = openDetached()) {
            device.attach(device());
            try (Submitter submitter = Submitter.start(device, TASKS)) {
                List<Status> ended = new ArrayList<>();
                submitReads(submitter, ended);
                submitter.stop();
            }
        }
    }

    /** Reads that free themselves, and their bufs. */
    private void submitReads(Submitter submitter, List<Status> ended) {
        for (int i = 0; i < TASKS; i++) {
            Buf buf = submitter.room((long) i * block(), block());
            Consumer<Task> freeing =
                    task -> {
                        ended.add(task.status());
                        task.free();
                        buf.release();
                    };
            Task task =
                    submitter
                            .context
                            .allocateRead((long) i * block(), block(), buf)
                            .setUserObject(freeing);
            assertThat(submitter.submit(task)).isEqualTo(Status.SUCCESS);
        }
    }
}
