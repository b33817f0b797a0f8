package io.softdpu.perf.demo;

import io.softdpu.perf.child.ResourceUse;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Combines the resource use of the processes in each phase. The initiator, whose phases they are,
 * says unasked what it has used when one begins and when it ends. The others are asked then, and
 * each answers in the order in which it was asked. A process that has ended before a question
 * reached it has said unasked what it had used by then.
 */
final class UseByPhase {
    private record Border(DemoPhase phase, boolean finished) {}

    private final List<Border> borders = new ArrayList<>();
    private final Map<DemoRole, List<ResourceUse>> answers = new EnumMap<>(DemoRole.class);

    /**
     * A phase begins or ends.
     *
     * @return whom to ask now: the initiator says it unasked
     */
    Set<DemoRole> border(DemoPhase phase, boolean finished) {
        borders.add(new Border(phase, finished));
        return EnumSet.complementOf(EnumSet.of(DemoRole.INITIATOR));
    }

    /** A process has said what it has used; of each in the order of the borders. */
    void answered(DemoRole role, ResourceUse use) {
        answers.computeIfAbsent(role, _ -> new ArrayList<>()).add(use);
    }

    /** The resource use of each process in each complete phase, by the name of the process. */
    Map<DemoPhase, Map<String, ResourceUse>> used() {
        Map<DemoPhase, Map<String, ResourceUse>> used = new EnumMap<>(DemoPhase.class);
        for (int end = 1; end < borders.size(); end++) {
            Border border = borders.get(end);
            if (border.finished()) {
                used.put(border.phase(), between(end - 1, end));
            }
        }
        return used;
    }

    private Map<String, ResourceUse> between(int first, int second) {
        Map<String, ResourceUse> all = new LinkedHashMap<>();
        answers.forEach((role, given) -> {
            if (first < given.size()) {
                ResourceUse end = given.get(Math.min(second, given.size() - 1));
                all.put(role.id(), end.since(given.get(first)));
            }
        });
        return all;
    }
}
