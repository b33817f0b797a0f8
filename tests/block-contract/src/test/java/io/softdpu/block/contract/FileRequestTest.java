package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockReadTask;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests of file volumes: their memory, and turns of more than a ring takes at a time. */
class FileRequestTest extends BlockContract {
    /** What a ring takes at a time. */
    private static final int OF_RING = 4096;

    private static final int TASKS = OF_RING + 64;

    /** How often each of the first is submitted. */
    private static final int ROUNDS = 10;

    @TempDir Path own;

    @Override
    protected BlockTestEnvironment environment() {
        return new FileEnvironment("", "io_uring");
    }

    /** The kernel would go on with it when the arena is closed, by whichever method. */
    @ParameterizedTest
    @ValueSource(strings = {"", "?threads=1"})
    void shouldRefuseMemoryThatTheProgramMayClose(String options) throws IOException {
        Path file = own.resolve("volume");
        Files.write(file, new byte[DEVICE_BYTES]);
        BlockDevice device = add(BlockDevice.open("file:" + file + options, block()));
        device.attach(device());
        Submitter submitter = start(device);
        try (Arena arena = Arena.ofShared();
                Mmap mmap = submitter.mapped(arena.allocate(block(), block()))) {
            Buf buf = submitter.inventory.bufByAddress(mmap, 0, block());
            BlockReadTask task = submitter.context.allocateRead(0, block(), buf);

            assertThat(task.trySubmit()).isEqualTo(Status.NOT_SUPPORTED);
            assertThat(task.refusal())
                    .hasMessageContainingAll("arena", file.toString(), "expected=SharedMemory");
            task.free();
            buf.release();
        }
    }

    /** Those that wait for room in the ring have their turn before others are there again. */
    @Test
    void shouldNotOvertakeRequestsThatWait() {
        Submitter submitter = add(Submitter.start(open(), TASKS));
        submitter.bytes(0, DEVICE_BYTES); // into the page cache
        List<BlockReadTask> tasks = new ArrayList<>();
        int[] endsOfFirst = {0};
        int[] endsOfLast = {0};
        int[] firstBeforeLast = {0};
        int[] rounds = new int[TASKS];
        for (int i = 0; i < TASKS; i++) {
            int index = i;
            long place = (long) i * block() % DEVICE_BYTES;
            BlockReadTask task =
                    submitter.context.allocateRead(place, block(), submitter.room(place, block()));
            Consumer<Task> ended =
                    _ -> {
                        assertThat(task.status()).isEqualTo(Status.SUCCESS);
                        if (index >= OF_RING) {
                            endsOfLast[0]++;
                            firstBeforeLast[0] = endsOfFirst[0];
                        } else {
                            endsOfFirst[0]++;
                            rounds[index]++;
                            if (rounds[index] < ROUNDS) {
                                task.destination().resetDataLength();
                                task.submit();
                            }
                        }
                    };
            task.setUserObject(ended);
            tasks.add(task);
        }
        tasks.forEach(BlockReadTask::submit);
        submitter.awaitEnd();
        tasks.forEach(task -> {
            task.destination().release();
            task.free();
        });

        assertThat(endsOfFirst[0]).isEqualTo(OF_RING * ROUNDS);
        assertThat(endsOfLast[0]).isEqualTo(TASKS - OF_RING);
        assertThat(firstBeforeLast[0]).isLessThan(OF_RING * ROUNDS / 2);
    }
}
