package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.fabric.link.EventPoller;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Each wake ends a sleep, also when the one before is being drained, and the poller can be woken
 * again afterwards.
 */
@JCStressTest
@Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "both seen, and a later wake works")
@State
public class PollerWake {
    private static final VarHandle TOLD;

    static {
        try {
            TOLD = MethodHandles.lookup().findVarHandle(PollerWake.class, "told", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EventPoller poller = Pollers.poller();
    private int told;

    @Actor
    public void wake() {
        TOLD.setRelease(this, 1);
        poller.wake();
        TOLD.setRelease(this, 2);
        poller.wake();
    }

    @Actor
    public void sleep(II_Result r) {
        int seen = 0;
        while (seen != 2 && poller.sleep(Pollers.LOST_NANOS)) {
            seen = (int) TOLD.getAcquire(this);
        }
        r.r1 = seen;
    }

    @Arbiter
    public void wakeAgain(II_Result r) {
        poller.clear();
        poller.wake();
        r.r2 = poller.sleep(0) ? 1 : 0;
    }
}
