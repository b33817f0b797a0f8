package io.softdpu.core.internal.engine;

import io.softdpu.core.internal.wait.Waitable;
import io.softdpu.core.spi.graph.CallbackFailures;
import io.softdpu.core.spi.graph.EngineMember;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Contexts and graphs that an engine progresses, in the order of their starts. A callback may start
 * and stop them during a pass, so gaps stay until it is over. The engine's thread.
 */
@SuppressWarnings("ReferenceEquality") // contexts are compared by identity
final class EngineMembers {
    /** Contexts that a situation distinguishes; further ones count as one of these. */
    private static final int SITUATION_CONTEXTS =
            Integer.numberOfTrailingZeros(Waitable.SITUATIONS) / 2;

    private final CallbackFailures failures;
    private @Nullable EngineMember[] members = new @Nullable EngineMember[8];
    private int slots;
    private int connected;

    /** All, in no order, for other threads: replaced, never changed. */
    private volatile EngineMember[] all = {};

    /**
     * Whether passes are limited to selected contexts: from a notification to the first pass
     * without work.
     */
    private boolean selecting;

    /** See {@link #situation}. */
    private int situation;

    EngineMembers(CallbackFailures failures) {
        this.failures = failures;
    }

    void add(EngineMember member) {
        if (slots == members.length) {
            members = Arrays.copyOf(members, slots * 2);
        }
        members[slots++] = member;
        connected++;
        EngineMember[] more = Arrays.copyOf(all, connected);
        more[connected - 1] = member;
        all = more;
    }

    /** Removes a context; its slot stays empty until {@link #closeGaps}. */
    void remove(EngineMember member) {
        for (int i = 0; i < slots; i++) {
            if (members[i] == member) {
                members[i] = null;
                connected--;
                all =
                        Arrays.stream(all)
                                .filter(each -> each != member)
                                .toArray(EngineMember[]::new);
            }
        }
    }

    /** Tasks and instances of all that were submitted and not completed. Any thread. */
    int inFlight() {
        int sum = 0;
        for (EngineMember member : all) {
            sum += member.inFlight();
        }
        return sum;
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

    /** One pass over all or over the selected contexts. */
    boolean progress() {
        int worked = 0;
        for (int i = 0; i < slots; i++) { // slots may grow: a callback may start a context
            EngineMember member = members[i];
            if (member != null && (!selecting || member.isSelected())) {
                try {
                    if (member.progress()) {
                        worked |= 1 << i % SITUATION_CONTEXTS;
                    }
                } catch (Throwable e) {
                    failures.add(e);
                    worked |= 1 << i % SITUATION_CONTEXTS;
                }
            }
        }
        if (worked == 0) {
            return false;
        }
        situation = (situation << SITUATION_CONTEXTS | worked) & Waitable.SITUATIONS - 1;
        return true;
    }

    /** The contexts that had work in each of the last two passes with work, a bit each. */
    int situation() {
        return situation;
    }

    /** Arms all contexts; whether any has work already. */
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
     * Arms each context and selects those that have work for the next passes.
     *
     * @param selecting false if passes include all contexts nevertheless
     */
    void select(boolean selecting) {
        this.selecting = selecting;
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null) {
                member.select(member.arm() || member.followsOthers());
            }
        }
    }

    /** Makes passes include all contexts again. */
    void selectAll() {
        selecting = false;
    }

    /** The work of the first contexts, for a message. */
    List<String> describeWork(int most) {
        List<String> described = new ArrayList<>();
        for (int i = 0; i < slots && described.size() < most; i++) {
            EngineMember member = members[i];
            if (member != null) {
                described.add(member.describeWork());
            }
        }
        return described;
    }

    /** Whether the start or stop of any context waits for a peer. */
    boolean awaitsEvents() {
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null && member.awaitsEvents()) {
                return true;
            }
        }
        return false;
    }

    /** Those that keep the engine open. */
    List<EngineMember> active() {
        List<EngineMember> active = new ArrayList<>();
        for (int i = 0; i < slots; i++) {
            EngineMember member = members[i];
            if (member != null && member.isActive()) {
                active.add(member);
            }
        }
        return active;
    }

    /** Number of each kind, for messages: {@code contexts=2, graphs=1}. */
    static String describeCounts(List<EngineMember> members) {
        return countsOf(members).entrySet().stream()
                .map(each -> each.getKey() + "=" + each.getValue())
                .collect(Collectors.joining(", "));
    }

    /** The kinds of the members, for messages: {@code contexts and graphs}. */
    static String describeKinds(List<EngineMember> members) {
        return String.join(" and ", countsOf(members).keySet());
    }

    private static Map<String, Integer> countsOf(List<EngineMember> members) {
        Map<String, Integer> counts = new TreeMap<>();
        members.forEach(member -> counts.merge(member.kind() + "s", 1, Integer::sum));
        return counts;
    }

    /** The first context without support of event mode; null if there is none. */
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
