package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.fabric.link.EngineWaiter;
import io.softdpu.fabric.link.Mailbox;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** What is left for an engine that goes to sleep runs, once each and in order. */
@JCStressTest
@Outcome(id = "12, 0", expect = ACCEPTABLE, desc = "both, in order, and no sleep was for good")
@State
public class MailboxSleep {
    private final EngineWaiter waiter = Waiters.waiter();
    private final Mailbox mailbox = new Mailbox(waiter);
    private int ran;
    private int lost;

    @Actor
    public void post() {
        mailbox.post(() -> ran = ran * 10 + 1);
        mailbox.post(() -> ran = ran * 10 + 2);
    }

    @Actor
    public void drain() {
        while (ran < 12 && lost == 0) {
            if (mailbox.drain() == 0 && mailbox.isEmpty() && !waiter.sleep(Waiters.LOST_NANOS)) {
                lost = 1;
            }
        }
    }

    @Arbiter
    public void look(II_Result r) {
        mailbox.drain();
        r.r1 = ran;
        r.r2 = lost;
    }
}
