package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A handle that sleeps while the counter is set sees the new value or is rung. */
@JCStressTest
@Outcome(id = "false, false", expect = FORBIDDEN, desc = "lost: it sleeps, and is not rung")
@Outcome(expect = ACCEPTABLE, desc = "rung, or seen, or both")
@State
public class SyncEventSleep {
    private static final WakeUp.Maker MAKER = new SyncEventWakeUp();

    private final WakeUp wakeUp = MAKER.make(Memory.next());

    @Actor
    public void publish(ZZ_Result r) {
        r.r1 = wakeUp.publishAndAsk();
    }

    @Actor
    public void sleep(ZZ_Result r) {
        r.r2 = wakeUp.armAndLook();
    }
}
