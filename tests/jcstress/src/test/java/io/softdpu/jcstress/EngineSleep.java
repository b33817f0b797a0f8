package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.core.internal.engine.EngineImpl;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * An engine that arms, polls and sleeps while an action is posted: the action is run afterwards.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "seen after one sleep at most")
@State
public class EngineSleep {
    private final EngineImpl engine = Pollers.engine();
    private int ran;

    @Actor
    public void post() {
        engine.mailbox().post(() -> ran++);
    }

    @Actor
    public void sleep(II_Result r) {
        if (!engine.arm()) {
            engine.sleep(Pollers.LOST_NANOS);
        }
        engine.disarm();
        engine.mailbox().drain();
        r.r1 = ran;
    }

    @Arbiter
    public void look(II_Result r) {
        engine.mailbox().drain();
        r.r2 = ran;
    }
}
