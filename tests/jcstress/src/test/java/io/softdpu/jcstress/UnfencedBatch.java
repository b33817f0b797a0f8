package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;

import io.softdpu.core.spi.memory.WithdrawalWakeUp;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A batch of packets without the fence between its begin and the look-up of memory. */
@JCStressTest
@Outcome(
        id = "false, false",
        expect = ACCEPTABLE_INTERESTING,
        desc = "lost: the owner has the memory back, and the batch writes into it")
@Outcome(expect = ACCEPTABLE, desc = "waited for, or not found, or both")
@State
public class UnfencedBatch {
    private static final WakeUp.Maker MAKER =
            Unfenced.keys(WithdrawalWakeUp.class, "AccessBatches", "begin");

    private final WakeUp wakeUp = MAKER.make(Memory.next());

    @Actor
    public void withdraw(ZZ_Result r) {
        r.r1 = wakeUp.publishAndAsk();
    }

    @Actor
    public void look(ZZ_Result r) {
        r.r2 = wakeUp.armAndLook();
    }
}
