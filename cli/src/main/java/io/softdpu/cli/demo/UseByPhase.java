package io.softdpu.cli.demo;

import io.softdpu.cli.child.ResourceUse;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Puts together what the processes have used in each phase: all are asked when a phase begins and
 * when it ends, and each answers in the order in which it was asked. A process that has ended
 * before a question reached it has said unasked what it had used by then.
 */
final class UseByPhase {
    private record Question(DemoPhase phase, boolean finished) {}

    private final List<Question> questions = new ArrayList<>();
    private final Map<DemoRole, List<ResourceUse>> answers = new EnumMap<>(DemoRole.class);

    /** All processes are being asked. */
    void asked(DemoPhase phase, boolean finished) {
        questions.add(new Question(phase, finished));
    }

    /** One of them has answered. */
    void answered(DemoRole role, ResourceUse use) {
        answers.computeIfAbsent(role, _ -> new ArrayList<>()).add(use);
    }

    /** What each process used in each phase that came to its end, by the process's name. */
    Map<DemoPhase, Map<String, ResourceUse>> used() {
        Map<DemoPhase, Map<String, ResourceUse>> used = new EnumMap<>(DemoPhase.class);
        for (int end = 1; end < questions.size(); end++) {
            Question question = questions.get(end);
            if (question.finished()) {
                used.put(question.phase(), between(end - 1, end));
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
