package io.softdpu.comch;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The bus brings a result while the engine loses interest: exactly one of them disposes of it. */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "brought, and given back by refuse")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "refused before it was brought")
@State
public class HandoverRace {
    private final Handover<String> handover = new Handover<>();

    @Actor
    public void offer(ZZ_Result r) {
        r.r1 = handover.offer("result");
    }

    @Actor
    public void refuse(ZZ_Result r) {
        r.r2 = handover.refuse() != null;
    }
}
