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

/** Requests that two threads of a block device end at once are completed once each. */
@JCStressTest
@Outcome(id = "12", expect = ACCEPTABLE, desc = "both, the first thread's before")
@Outcome(id = "21", expect = ACCEPTABLE, desc = "both, the second thread's before")
@State
public class BlockCompletionTwoThreads {
    private final CompletionQueue queue = new CompletionQueue(() -> {});
    private final BlockCompletions completions = new BlockCompletions();
    private final BlockRequest one = completions.request(1);
    private final BlockRequest two = completions.request(2);

    @Actor
    public void first() {
        queue.add(one, Status.SUCCESS);
    }

    @Actor
    public void second() {
        queue.add(two, Status.SUCCESS);
    }

    @Arbiter
    public void look(I_Result r) {
        queue.complete();
        r.r1 = completions.order();
    }
}
