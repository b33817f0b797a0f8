package io.softdpu.core.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A thread goes to sleep while an adapter changes the counter by a plain store. */
@JCStressTest
@Outcome(id = "false, false", expect = FORBIDDEN, desc = "lost: it sleeps, and is not woken")
@Outcome(expect = ACCEPTABLE, desc = "woken, or seen, or both")
@State
public class AdapterSleep {
    private final AdapterEvent event = AdapterEvent.next();

    @Actor
    public void write() {
        event.write();
    }

    @Actor
    public void sleep(ZZ_Result r) {
        r.r1 = event.arm();
    }

    @Arbiter
    public void look(ZZ_Result r) {
        r.r2 = event.isWoken();
    }
}
