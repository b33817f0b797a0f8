package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.softdpu.block.spi.BlockRequest;
import io.softdpu.block.spi.CompletionQueue;
import io.softdpu.core.Status;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** An engine that goes to sleep while a request of a block device ends sees it or is woken. */
@JCStressTest
@Outcome(id = "false, false", expect = FORBIDDEN, desc = "lost: it sleeps, and is not woken")
@Outcome(expect = ACCEPTABLE, desc = "woken, or seen, or both")
@State
public class BlockCompletionSleep {
    private boolean woken;
    private final CompletionQueue queue = new CompletionQueue(() -> woken = true);
    private final BlockRequest request = new BlockCompletions().request(1);

    @Actor
    public void report(ZZ_Result r) {
        queue.add(request, Status.SUCCESS);
        r.r1 = woken;
    }

    @Actor
    public void sleep(ZZ_Result r) {
        r.r2 = queue.arm();
    }
}
