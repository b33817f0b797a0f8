package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.CompletionQueue;
import io.softdpu.core.Status;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Requests that a thread ends while the engine's completes are completed once each, in order. */
@JCStressTest
@Outcome(id = "123", expect = ACCEPTABLE, desc = "all, in the order of their reports")
@State
public class BlockCompletionOrder {
    private final CompletionQueue queue = new CompletionQueue(() -> {});
    private final BlockCompletions completions = new BlockCompletions();
    private final BlockRequest first = completions.request(1);
    private final BlockRequest second = completions.request(2);
    private final BlockRequest third = completions.request(3);

    @Actor
    public void report() {
        queue.add(first, Status.SUCCESS);
        queue.add(second, Status.SUCCESS);
        queue.add(third, Status.SUCCESS);
    }

    @Actor
    public void complete() {
        queue.complete();
        queue.complete();
    }

    @Arbiter
    public void look(I_Result r) {
        queue.complete();
        r.r1 = completions.order();
    }
}
