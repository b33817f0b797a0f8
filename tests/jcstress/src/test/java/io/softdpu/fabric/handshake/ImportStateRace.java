package io.softdpu.fabric.handshake;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import java.util.concurrent.atomic.AtomicReference;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The bus hands an import over while its holder closes it: exactly one of them releases it. */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "handed over, and released by the close")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "closed before it was handed over")
@State
public class ImportStateRace {
    private final AtomicReference<ImportState> state = new AtomicReference<>(ImportState.MAPPED);

    @Actor
    public void handOver(ZZ_Result r) {
        r.r1 = ImportState.move(state, ImportState.Event.HAND_OVER) != null;
    }

    @Actor
    public void close(ZZ_Result r) {
        r.r2 = ImportState.move(state, ImportState.Event.CLOSE) == ImportState.HANDED_OVER;
    }
}
