package io.softdpu.comch;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The bus delivers a result while the engine cancels: exactly one of them disposes of it. */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "delivered, and given back by cancel")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "cancelled before it was delivered")
@State
public class ResultHandoffRace {
    private final ResultHandoff<String> handoff = new ResultHandoff<>();

    @Actor
    public void offer(ZZ_Result r) {
        r.r1 = handoff.offer("result");
    }

    @Actor
    public void cancel(ZZ_Result r) {
        r.r2 = handoff.cancel() != null;
    }
}
