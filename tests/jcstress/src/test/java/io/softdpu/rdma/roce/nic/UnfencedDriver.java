package io.softdpu.rdma.roce.nic;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** As {@link DriverHandOver}, by a driver that does not look again when it was left a note. */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "lost: pending while all sleep")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "taken")
@State
public class UnfencedDriver {
    private final Ownership ownership = new Ownership();
    private int published;
    private int taken;

    public UnfencedDriver() {
        ownership.open(Thread.currentThread());
    }

    private void drive() {
        taken = published;
        boolean _ = ownership.leave();
    }

    @Actor
    public void publish() {
        published = 1;
        if (ownership.acquireOrNote()) {
            drive();
        }
    }

    @Actor
    public void poll() {
        if (ownership.tryAcquire()) {
            drive();
        }
    }

    @Arbiter
    public void look(I_Result r) {
        r.r1 = taken;
    }
}
