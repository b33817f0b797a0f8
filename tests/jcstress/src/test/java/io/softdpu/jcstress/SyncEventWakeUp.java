package io.softdpu.jcstress;

import io.softdpu.core.sync.wire.EventCounter;
import io.softdpu.core.sync.wire.HandlePage;
import java.lang.foreign.MemorySegment;

/** A handle of a sync event sleeps until the process of the other handle sets the counter. */
public final class SyncEventWakeUp implements WakeUp, WakeUp.Maker {
    private static final long AT_PAGE = 1024;

    private MemorySegment counter;
    private MemorySegment page;
    private long seen;

    @Override
    public WakeUp make(MemorySegment memory) {
        SyncEventWakeUp made = new SyncEventWakeUp();
        made.counter = memory.asSlice(0, Long.BYTES);
        made.page = memory.asSlice(AT_PAGE, HandlePage.BYTES);
        made.seen = EventCounter.get(made.counter);
        HandlePage.disarm(made.page);
        return made;
    }

    @Override
    public boolean publishAndAsk() {
        EventCounter.set(counter, seen + 1);
        return HandlePage.isArmed(page) && HandlePage.takeArmed(page);
    }

    @Override
    public boolean armAndLook() {
        HandlePage.arm(page, seen);
        return EventCounter.get(counter) != seen;
    }
}
