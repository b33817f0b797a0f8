package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockReadTask;
import io.softdpu.core.execution.Task;
import io.softdpu.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The contract of block devices for file volumes by io_uring without the page cache. */
class FileUringDirectContractTest extends BlockDeviceContract {
    /** Requests in flight whose completions are there at once. */
    private static final int DEEP = 64;

    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("&direct", "io_uring");
    }

    /**
     * A pass does not take all completions that are there, so that the disk works on what follows
     * the first ones while the others are taken. They are there when later reads have ended.
     */
    @Test
    void shouldTakeFewCompletionsAtATime() {
        BlockDevice device = open();
        Submitter submitter = add(Submitter.start(device, DEEP));
        Submitter later = add(Submitter.start(device, 1));
        List<BlockReadTask> tasks = new ArrayList<>();
        int[] ends = {0};
        for (int i = 0; i < DEEP; i++) {
            long place = (long) i * block() % DEVICE_BYTES;
            BlockReadTask task =
                    submitter.context.allocateRead(place, block(), submitter.room(place, block()));
            Consumer<Task> ended = _ -> ends[0]++;
            task.setUserObject(ended);
            tasks.add(task);
        }
        tasks.forEach(BlockReadTask::submit);
        submitter.progress();
        later.bytes(0, DEVICE_BYTES);

        int[] most = {0};
        Await.byStep(
                "end of all tasks",
                () -> ends[0] == DEEP,
                () -> {
                    int before = ends[0];
                    submitter.progress();
                    most[0] = Math.max(most[0], ends[0] - before);
                });

        tasks.forEach(task -> {
            task.destination().release();
            task.free();
        });

        assertThat(most[0]).isLessThanOrEqualTo(DEEP / 4);
    }
}
