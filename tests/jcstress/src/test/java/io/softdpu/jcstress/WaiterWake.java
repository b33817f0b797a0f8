package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.fabric.link.EngineWaiter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Each wake ends a sleep, also where it comes just when the one before is drained, and afterwards
 * the waiter can be woken as before.
 */
@JCStressTest
@Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "both seen, and a later wake works")
@State
public class WaiterWake {
    private static final VarHandle TOLD;

    static {
        try {
            TOLD = MethodHandles.lookup().findVarHandle(WaiterWake.class, "told", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EngineWaiter waiter = Waiters.waiter();
    private int told;

    @Actor
    public void wake() {
        TOLD.setRelease(this, 1);
        waiter.wake();
        TOLD.setRelease(this, 2);
        waiter.wake();
    }

    @Actor
    public void sleep(II_Result r) {
        int seen = 0;
        while (seen != 2 && waiter.sleep(Waiters.LOST_NANOS)) {
            seen = (int) TOLD.getAcquire(this);
        }
        r.r1 = seen;
    }

    @Arbiter
    public void wakeAgain(II_Result r) {
        waiter.clear();
        waiter.wake();
        r.r2 = waiter.sleep(0) ? 1 : 0;
    }
}
