package io.softdpu.core.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * An adapter changes the counter while another tells of its own change, which the thread that
 * sleeps has seen: the first finds the access in use, and the other may have looked before.
 */
@JCStressTest
@Outcome(id = "true", expect = ACCEPTABLE, desc = "woken, by either")
@Outcome(id = "false", expect = FORBIDDEN, desc = "lost: it sleeps, and is not woken")
@State
public class AdaptersAtOnce {
    private final AdapterEvent event = AdapterEvent.next();

    public AdaptersAtOnce() {
        boolean _ = event.arm();
    }

    @Actor
    public void change() {
        event.write();
    }

    @Actor
    public void tell() {
        event.tell();
    }

    @Arbiter
    public void look(Z_Result r) {
        r.r1 = event.isWoken();
    }
}
