package io.softdpu.core.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/** A thread of the DPU handle goes to sleep while the CPU handle updates. */
@JCStressTest
@Outcome(id = "true", expect = ACCEPTABLE, desc = "it sees the value, or is woken")
@State
public class HandleDpuSleep {
    private final HandlePair pair = HandlePair.next();

    @Actor
    public void update() {
        pair.byCpu.set(1);
    }

    @Actor
    public void sleep(Z_Result r) {
        r.r1 = pair.ofDpu.sleep(pair.dpu);
    }
}
