package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.softdpu.core.sync.wire.EventCounter;
import io.softdpu.core.sync.wire.HandlePage;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZJ_Result;

/** Two threads add at once, for a handle that sleeps: one of them rings, and both count. */
@JCStressTest
@Outcome(id = "true, false, 2", expect = ACCEPTABLE, desc = "the first rings")
@Outcome(id = "false, true, 2", expect = ACCEPTABLE, desc = "the second rings")
@Outcome(expect = FORBIDDEN, desc = "none or both ring, or an addition is lost")
@State
public class SyncEventTwoUpdaters {
    private static final long AT_PAGE = 1024;

    private final MemorySegment counter;
    private final MemorySegment page;

    public SyncEventTwoUpdaters() {
        MemorySegment memory = Memory.next();
        counter = memory.asSlice(0, Long.BYTES);
        page = memory.asSlice(AT_PAGE, HandlePage.BYTES);
        EventCounter.set(counter, 0);
        HandlePage.arm(page, 0);
    }

    @Actor
    public void first(ZZJ_Result r) {
        r.r1 = add();
    }

    @Actor
    public void second(ZZJ_Result r) {
        r.r2 = add();
    }

    @Arbiter
    public void value(ZZJ_Result r) {
        r.r3 = EventCounter.get(counter);
    }

    private boolean add() {
        EventCounter.add(counter, 1);
        return HandlePage.isArmed(page) && HandlePage.takeArmed(page);
    }
}
