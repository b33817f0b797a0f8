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
 * A second program publishes a request and goes to sleep, while the owner of the NIC has a note of
 * the first: both were taken. The second may write nothing to the word then, so what it has
 * published is volatile, as in the product. State of the NIC is plain.
 */
@JCStressTest
@Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "both taken, and the NIC is free")
@Outcome(expect = FORBIDDEN, desc = "pending while all sleep, or the NIC is not left")
@State
public class DriverTwoPublishers {
    private final Ownership ownership = new Ownership();
    private int first;
    private volatile int second;
    private int taken;

    public DriverTwoPublishers() {
        ownership.open(Thread.currentThread()); // which does not wait
        boolean _ = ownership.tryAcquire();
        first = 1;
        boolean _ = ownership.acquireOrNote(); // of the first, who has published
    }

    private void drive() {
        do {
            taken = first + second;
        } while (!ownership.release());
    }

    @Actor
    public void own() {
        drive();
    }

    @Actor
    public void publish() {
        second = 1;
        if (ownership.acquireOrNote()) {
            drive();
        }
    }

    @Arbiter
    public void look(II_Result r) {
        r.r1 = taken;
        r.r2 = ownership.tryAcquire() ? 0 : 1;
    }
}
