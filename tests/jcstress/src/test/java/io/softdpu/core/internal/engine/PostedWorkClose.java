package io.softdpu.core.internal.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Work that is offered while the queue closes runs once if it was accepted, and else never. */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "accepted and run")
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "refused and not run")
@State
public class PostedWorkClose {
    private final PostedWork posted = new PostedWork();
    private int ran;

    @Actor
    public void offer(II_Result r) {
        r.r1 = posted.offer(() -> ran++) == PostedWork.Offer.ACCEPTED ? 1 : 0;
    }

    @Actor
    public void close() {
        posted.close();
        while (posted.size() > 0) { // as the close of an engine
            Runnable work = posted.take();
            if (work == null) {
                Thread.onSpinWait();
            } else {
                work.run();
            }
        }
    }

    @Arbiter
    public void look(II_Result r) {
        r.r2 = posted.take() == null ? ran : -1;
    }
}
