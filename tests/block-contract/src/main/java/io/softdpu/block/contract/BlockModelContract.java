package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockWriteTask;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random operations of several contexts, many in flight, against a {@link BlockModel} of what each
 * block may hold; and as many tasks at once as a program may have.
 */
public abstract class BlockModelContract extends BlockReadWriteContract {
    private static final int CONTEXTS = 3;
    private static final int BLOCKS = 64;
    private static final int MAX_LENGTH = 6;
    private static final int MAX_IN_FLIGHT = 12;
    private static final int MANY_TASKS = 8192;

    /** For subclasses. */
    protected BlockModelContract() {}

    @Test
    @Tag(Soak.TAG)
    void shouldKeepToTheModelWhateverIsInFlight(SeededRandom random) {
        long began = System.nanoTime();
        int operations = Soak.count(1000, 1000, 1_000_000);
        Run run = new Run(open(), random);
        for (int i = 0; i < operations; i++) {
            run.step();
        }
        run.end();
        Soak.report(
                "block-model-" + environment().getClass().getSimpleName(),
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                "operations=" + operations + ", blocksCompared=" + run.compared);
    }

    /** State of one run. */
    private final class Run {
        private final SeededRandom random;
        private final BlockModel model = new BlockModel(BLOCKS, block(), !keepsBlocks());
        private final List<Submitter> submitters = new ArrayList<>();
        private final List<List<Integer>> freePlaces = new ArrayList<>();
        private long compared;

        Run(BlockDevice device, SeededRandom random) {
            this.random = random;
            for (int i = 0; i < CONTEXTS; i++) {
                submitters.add(start(device));
                List<Integer> places = new ArrayList<>();
                for (int place = 0; place < MAX_IN_FLIGHT; place++) {
                    places.add(place);
                }
                freePlaces.add(places);
            }
        }

        private boolean keepsBlocks() {
            return environment().keepsBlocks();
        }

        /** Submits an operation, or lets an engine progress. */
        void step() {
            int index = (int) random.between(0, CONTEXTS - 1);
            Submitter submitter = submitters.get(index);
            if (freePlaces.get(index).isEmpty() || random.chance(0.3)) {
                submitter.progress();
                return;
            }
            int place = freePlaces.get(index).removeLast();
            int first = (int) random.between(0, BLOCKS - 1);
            int count = (int) random.between(1, Math.min(MAX_LENGTH, BLOCKS - first));
            switch ((int) random.between(0, 9)) {
                case 0, 1, 2, 3 -> read(index, place, first, count);
                case 4, 5, 6 -> write(index, place, first, count);
                case 7 -> zero(index, place, first, count);
                case 8 -> discard(index, place, first, count);
                default -> flush(index, place);
            }
        }

        void end() {
            for (Submitter submitter : submitters) {
                submitter.awaitEnd();
            }
            for (int first = 0; first < BLOCKS; first++) {
                read(0, freePlaces.getFirst().removeLast(), first, 1);
                submitters.getFirst().awaitEnd();
            }
            for (Submitter submitter : submitters) {
                submitter.stop();
                submitter.assertEnded();
            }
        }

        private long at(int place) {
            return (long) place * MAX_LENGTH * block();
        }

        private void read(int index, int place, int first, int count) {
            Submitter submitter = submitters.get(index);
            submitter
                    .memory
                    .asSlice(at(place), (long) count * block())
                    .fill((byte) random.nextLong());
            Buf buf = submitter.room(at(place), (long) count * block());
            BlockModel.Expected expected = model.readBegins(first, count);
            submit(
                    index,
                    place,
                    buf,
                    submitter.context.allocateRead(
                            (long) first * block(), (long) count * block(), buf),
                    () -> compared += model.readEnded(expected, submitter.memory, at(place)));
        }

        private void write(int index, int place, int first, int count) {
            Submitter submitter = submitters.get(index);
            long value = model.newValue();
            model.fill(submitter.memory, at(place), first, count, value);
            Buf buf = submitter.data(at(place), (long) count * block());
            BlockWriteTask task = submitter.context.allocateWrite((long) first * block(), buf);
            if (environment().features().contains(BlockFeature.FUA)) {
                task.setFua(random.chance(0.2));
            }
            model.writeBegins(first, count);
            submit(index, place, buf, task, () -> model.writeEnded(first, count, value));
        }

        private void zero(int index, int place, int first, int count) {
            if (!environment().features().contains(BlockFeature.WRITE_ZEROES)) {
                freePlaces.get(index).add(place);
                return;
            }
            model.writeBegins(first, count);
            submit(
                    index,
                    place,
                    null,
                    submitters
                            .get(index)
                            .context
                            .allocateWriteZeroes((long) first * block(), (long) count * block())
                            .setKeepAllocated(random.nextBoolean()),
                    () -> model.writeEnded(first, count, BlockModel.ZEROS));
        }

        private void discard(int index, int place, int first, int count) {
            if (!environment().features().contains(BlockFeature.DISCARD)) {
                freePlaces.get(index).add(place);
                return;
            }
            model.writeBegins(first, count);
            submit(
                    index,
                    place,
                    null,
                    submitters
                            .get(index)
                            .context
                            .allocateDiscard((long) first * block(), (long) count * block()),
                    () -> model.writeEnded(first, count, BlockModel.UNKNOWN));
        }

        private void flush(int index, int place) {
            if (!environment().features().contains(BlockFeature.FLUSH)) {
                freePlaces.get(index).add(place);
                return;
            }
            submit(index, place, null, submitters.get(index).context.allocateFlush(), () -> {});
        }

        private void submit(int index, int place, @Nullable Buf buf, Task task, Runnable ended) {
            Consumer<Task> completed =
                    done -> {
                        assertThat(done.status()).isEqualTo(Status.SUCCESS);
                        ended.run();
                        done.free();
                        if (buf != null) {
                            buf.release();
                        }
                        freePlaces.get(index).add(place);
                    };
            task.setUserObject(completed);
            assertThat(submitters.get(index).submit(task)).isEqualTo(Status.SUCCESS);
        }
    }

    @Test
    void shouldRunThousandsOfTasksAtOnce() {
        int places = Math.min(MANY_TASKS, Submitter.MEMORY_BYTES / block());
        BlockDevice device = open((long) places * block());
        Submitter submitter = add(Submitter.start(device, places));
        BlockModel model = new BlockModel(places, block(), !environment().keepsBlocks());
        int[] ended = {0};
        Consumer<Task> completed =
                task -> {
                    assertThat(task.status()).isEqualTo(Status.SUCCESS);
                    ended[0]++;
                };
        List<Task> tasks = new ArrayList<>();
        List<Buf> bufs = new ArrayList<>();
        for (int place = 0; place < places; place++) {
            long at = (long) place * block();
            model.fill(submitter.memory, at, place, 1, 1);
            Buf buf = submitter.data(at, block());
            bufs.add(buf);
            Task task = submitter.context.allocateWrite(at, buf).setUserObject(completed);
            tasks.add(task);
            assertThat(submitter.submit(task)).isEqualTo(Status.SUCCESS);
        }
        Await.byStep("end of all", () -> ended[0] == places, submitter::progress);
        tasks.forEach(Task::free);
        bufs.forEach(Buf::release);
        model.writeBegins(0, places);
        model.writeEnded(0, places, 1);
        for (int place = 0; place < places; place++) {
            BlockModel.Expected expected = model.readBegins(place, 1);
            submitter.bytes((long) place * block(), block());
            assertThat(model.readEnded(expected, submitter.memory, 0)).isOne();
        }
        submitter.stop();
        submitter.assertEnded();
    }
}
