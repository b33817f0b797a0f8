package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.linux.Affinity;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CpuBindingTest {
    @Test
    void shouldBindAThreadToOneProcessorAndLeaveItWithAny() throws Exception {
        int last = Affinity.allowed().length() - 1;
        CompletableFuture<BitSet> bound = new CompletableFuture<>();
        CompletableFuture<BitSet> free = new CompletableFuture<>();
        run(bound, CpuBinding.hard(last));
        run(free, CpuBinding.any());
        BitSet one = new BitSet();
        one.set(last);
        assertThat(bound.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(one);
        assertThat(free.get(Patience.SECONDS, TimeUnit.SECONDS))
                .isEqualTo(Affinity.ofCurrentThread());
        assertThat(CpuBinding.availableProcessors()).isEqualTo(Affinity.availableCpus());
    }

    @Test
    void shouldReadWhatACommandLineSays() {
        assertThat(CpuBinding.of("any").isBound()).isFalse();
        assertThat(CpuBinding.of("any")).hasToString("any");
        assertThat(CpuBinding.of("3").isBound()).isTrue();
        assertThat(CpuBinding.of("3")).hasToString("3");
        assertThat(CpuBinding.of("prefer:2").isBound()).isTrue();
        assertThat(CpuBinding.of("prefer:2")).hasToString("prefer:2");
        Thrown.with(Status.INVALID_VALUE, () -> CpuBinding.of("prefer:"));
        Thrown.with(Status.INVALID_VALUE, () -> CpuBinding.soft(-1));
        Thrown.with(Status.INVALID_VALUE, () -> CpuBinding.of("some")).hasMessageContaining("any");
        Thrown.with(Status.INVALID_VALUE, () -> CpuBinding.of("-1"));
    }

    @Test
    void shouldAnswerAnUnknownProcessorWithThoseThatThereAre() {
        Thrown.with(Status.NOT_FOUND, () -> CpuBinding.hard(100_000).bindCurrentThread())
                .hasMessageContainingAll("100000", Affinity.allowed().toString());
        Thrown.with(Status.NOT_FOUND, () -> CpuBinding.hard(100_000).checkAvailable())
                .hasMessageContainingAll("100000", Affinity.allowed().toString());
        CpuBinding.any().checkAvailable();
        CpuBinding.hard(Affinity.allowed().length() - 1).checkAvailable();
    }

    @Test
    void shouldBindTheThreadOfAnEngineAndLetAPreferredProcessorGoWithIt() throws Exception {
        int last = Affinity.allowed().length() - 1;
        BitSet one = new BitSet();
        one.set(last);
        assertThat(whileAndAfter(CpuBinding.hard(last))).containsExactly(one, one);
        assertThat(whileAndAfter(CpuBinding.soft(last))).containsExactly(one, Affinity.allowed());
        Thrown.with(Status.NOT_FOUND, () -> ProgressEngine.create(CpuBinding.soft(100_000)))
                .hasMessageContaining("100000");
    }

    /** Processors that a thread may run on while it has an engine, and after. */
    private static List<BitSet> whileAndAfter(CpuBinding binding) throws Exception {
        CompletableFuture<List<BitSet>> seen = new CompletableFuture<>();
        Thread.ofPlatform()
                .start(() -> {
                    try {
                        ProgressEngine engine = ProgressEngine.create(binding);
                        engine.await(Duration.ofMillis(1));
                        BitSet meanwhile = Affinity.ofCurrentThread();
                        engine.close();
                        seen.complete(List.of(meanwhile, Affinity.ofCurrentThread()));
                    } catch (DpuException e) {
                        seen.completeExceptionally(e);
                    }
                });
        return seen.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    private static void run(CompletableFuture<BitSet> result, CpuBinding binding) {
        Thread.ofPlatform()
                .start(() -> {
                    try {
                        binding.bindCurrentThread();
                        result.complete(Affinity.ofCurrentThread());
                    } catch (DpuException e) {
                        result.completeExceptionally(e);
                    }
                });
    }
}
