package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** An update of a sync event without the fence between the counter and the request. */
@JCStressTest
@Outcome(
        id = "false, false",
        expect = ACCEPTABLE_INTERESTING,
        desc = "lost: it sleeps, and is not rung")
@Outcome(expect = ACCEPTABLE, desc = "rung, or seen, or both")
@State
public class UnfencedSyncEventUpdate {
    private static final WakeUp.Maker MAKER =
            Unfenced.syncEvent(SyncEventWakeUp.class, "EventCounter", "set");

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
