package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.fabric.link.EventPoller;
import io.softdpu.fabric.link.Mailbox;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Actions that are posted for an engine that goes to sleep run once each and in order. */
@JCStressTest
@Outcome(id = "12, 0", expect = ACCEPTABLE, desc = "both, in order, and every sleep has ended")
@State
public class MailboxSleep {
    private final EventPoller poller = Pollers.poller();
    private final Mailbox mailbox = new Mailbox(poller);
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
            if (mailbox.drain() == 0 && mailbox.isEmpty() && !poller.sleep(Pollers.LOST_NANOS)) {
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
