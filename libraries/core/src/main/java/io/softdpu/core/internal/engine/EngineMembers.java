package io.softdpu.core.internal.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The contexts of an engine, in the order in which they were connected. A callback may connect and
 * disconnect contexts during a pass, so gaps stay until it is over. The engine's thread.
 */
@SuppressWarnings("ReferenceEquality") // contexts are what they are
final class EngineMembers {
    private final CallbackFailures failures;
    private @Nullable EngineMember[] members = new @Nullable EngineMember[8];
    private int slots;
    private int connected;

    /** Between a notification and the first pass that finds nothing: only what was selected. */
    private boolean selecting;

    EngineMembers(CallbackFailures failures) {
        this.failures = failures;
    }

    int count() {
        return connected;
    }

    void add(EngineMember member) {
        if (slots == members.length) {
            members = Arrays.copyOf(members, slots * 2);
        }
        members[slots++] = member;
        connected++;
    }

    /** Takes one out; its slot stays empty until {@link #closeGaps}. */
    void remove(EngineMember member) {
        for (int i = 0; i < slots; i++) {
            if (members[i] == member) {
                members[i] = null;
                connected--;
            }
        }
    }

    void closeGaps() {
        if (connected == slots) {
            return;
        }
        int kept = 0;
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            members[i] = null;
            if (member != null) {
                members[kept++] = member;
            }
        }
        slots = kept;
    }

    /** One pass over all, or over those that were selected. */
    boolean progress() {
        boolean progressed = false;
        for (int i = 0; i < slots; i++) { // slots may grow: a callback may connect a context
            EngineMember member = members[i];
            if (member != null && (!selecting || member.selected)) {
                progressed |= progress(member);
            }
        }
        return progressed;
    }

    private boolean progress(EngineMember member) {
        try {
            return member.progress();
        } catch (Throwable e) {
            failures.add(e);
            return true;
        }
    }

    /** Arms all; whether any has something to do already. */
    boolean arm() {
        boolean ready = false;
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null) {
                ready |= member.arm();
            }
        }
        return ready;
    }

    void disarm() {
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null) {
                member.disarm();
            }
        }
    }

    /**
     * Looks at each once more, which arming does; passes are for those that have something to do.
     *
     * @param selecting false if passes are for all nevertheless
     */
    void select(boolean selecting) {
        this.selecting = selecting;
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null) {
                member.selected = member.arm();
            }
        }
    }

    /** Passes are for all again. */
    void selectAll() {
        selecting = false;
    }

    /** The first of all; null if there is none. */
    @Nullable EngineMember first() {
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null) {
                return member;
            }
        }
        return null;
    }

    /** The first that cannot be waited for in event mode; null if there is none. */
    @Nullable EngineMember firstWithoutEvents() {
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null && !member.isEventDrivenSupported()) {
                return member;
            }
        }
        return null;
    }
}
