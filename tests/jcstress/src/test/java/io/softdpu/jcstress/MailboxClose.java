package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.fabric.link.Mailbox;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** An action that is posted while the mailbox closes runs exactly once. */
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "once, on one thread or the other")
@State
public class MailboxClose {
    private final Mailbox mailbox = new Mailbox(Pollers.poller());
    private final AtomicInteger ran = new AtomicInteger();

    @Actor
    public void post() {
        mailbox.post(ran::incrementAndGet);
    }

    @Actor
    public void close() {
        mailbox.close();
    }

    @Arbiter
    public void look(I_Result r) {
        r.r1 = ran.get();
    }
}
