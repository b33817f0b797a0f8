package io.softdpu.perf.demo;

import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.result.MachineUse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Combines the resource use of the processes in each phase. The initiator, whose phases they are,
 * says unasked what it has used when one begins and when it ends. The others are asked then, and
 * each answers in the order in which it was asked. A process that has ended before a question
 * reached it has said unasked what it had used by then.
 */
final class UseByPhase {
    private record Border(DemoStep step, boolean finished, OptionalLong machineNanos) {}

    private final List<Border> borders = new ArrayList<>();
    private final Map<DemoRole, List<ResourceUse>> answers = new EnumMap<>(DemoRole.class);

    /**
     * A step begins or ends.
     *
     * @param machineNanos an answer of {@link MachineUse#now} at this moment
     * @return whom to ask now: the initiator says it unasked
     */
    Set<DemoRole> border(DemoStep step, boolean finished, OptionalLong machineNanos) {
        borders.add(new Border(step, finished, machineNanos));
        return EnumSet.complementOf(EnumSet.of(DemoRole.INITIATOR));
    }

    /** A process has said what it has used; of each in the order of the borders. */
    void answered(DemoRole role, ResourceUse use) {
        answers.computeIfAbsent(role, _ -> new ArrayList<>()).add(use);
    }

    /** The resource use of each process in each complete step, by the name of the process. */
    Map<DemoStep, Map<String, ResourceUse>> used() {
        Map<DemoStep, Map<String, ResourceUse>> used = new LinkedHashMap<>();
        for (int end = 1; end < borders.size(); end++) {
            Border border = borders.get(end);
            if (border.finished()) {
                used.put(border.step(), between(end - 1, end));
            }
        }
        return used;
    }

    /** The most processors that other processes of the machine used during a measurement. */
    double othersProcessors() {
        double most = 0;
        for (int end = 1; end < borders.size(); end++) {
            Border border = borders.get(end);
            if (border.finished() && border.step().phase().isMeasured()) {
                Collection<ResourceUse> own = between(end - 1, end).values();
                most =
                        Math.max(
                                most,
                                MachineUse.othersProcessors(
                                        borders.get(end - 1).machineNanos(),
                                        border.machineNanos(),
                                        own.stream().mapToLong(ResourceUse::cpuNanos).sum(),
                                        own.stream()
                                                .mapToLong(ResourceUse::nanos)
                                                .max()
                                                .orElse(0)));
            }
        }
        return most;
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
