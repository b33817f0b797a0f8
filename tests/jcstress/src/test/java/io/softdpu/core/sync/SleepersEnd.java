package io.softdpu.core.sync;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.softdpu.core.sync.wire.HandlePage;
import io.softdpu.fabric.link.EventPoller;
import io.softdpu.jcstress.Memory;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A thread goes to sleep on a handle whose event is destroyed: it sees that or is woken. */
@JCStressTest
@Outcome(id = "false, false", expect = FORBIDDEN, desc = "lost: it sleeps, and is not woken")
@Outcome(expect = ACCEPTABLE, desc = "woken, or seen, or both")
@State
public class SleepersEnd {
    private final Sleepers sleepers = new Sleepers();
    private final Sleeping sleeper = new Sleeping();
    private final MemorySegment page = Memory.next().asSlice(0, HandlePage.BYTES);

    public SleepersEnd() {
        page.fill((byte) 0);
        sleepers.add(sleeper);
    }

    @Actor
    public void destroy() {
        HandlePage.end(page);
        sleepers.wakeAll();
    }

    @Actor
    public void sleep(ZZ_Result r) {
        sleepers.arm(sleeper, 0);
        r.r1 = HandlePage.isEnded(page);
    }

    @Arbiter
    public void look(ZZ_Result r) {
        r.r2 = sleeper.woken;
    }

    private static final class Sleeping extends Sleeper {
        private volatile boolean woken;

        @Override
        EventPoller poller() {
            throw new AssertionError("listens to nothing");
        }

        @Override
        void wake() {
            woken = true;
        }
    }
}
