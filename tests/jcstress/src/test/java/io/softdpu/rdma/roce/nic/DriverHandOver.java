package io.softdpu.rdma.roce.nic;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A program publishes a request and goes to sleep, while another drives the NIC and leaves it: one
 * of the two has taken the request. State of the NIC is plain.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "taken, and the NIC is free")
@Outcome(expect = FORBIDDEN, desc = "pending while all sleep, or the NIC is not left")
@State
public class DriverHandOver {
    private final Ownership ownership = new Ownership();
    private int published;
    private int taken;

    public DriverHandOver() {
        ownership.open(Thread.currentThread()); // which does not wait
    }

    private void drive() {
        do {
            taken = published;
        } while (!ownership.release());
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
    public void look(II_Result r) {
        r.r1 = taken;
        r.r2 = ownership.tryAcquire() ? 0 : 1;
    }
}
