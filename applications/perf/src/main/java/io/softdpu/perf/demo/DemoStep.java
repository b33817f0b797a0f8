package io.softdpu.perf.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One phase in the plan of a demo; a measurement that is repeated is several.
 *
 * @param phase the phase
 * @param run number of the run, from 1 on
 */
public record DemoStep(DemoPhase phase, int run) {
    private static final Pattern REPEATED = Pattern.compile("(\\w+)_run(\\d{1,9})");

    /**
     * The steps of a demo, in their order: the measurements in rounds, so that a machine whose
     * speed changes meanwhile changes all of them.
     */
    public static List<DemoStep> of(DemoOptions options) {
        List<DemoStep> steps = new ArrayList<>();
        List<DemoPhase> phases = DemoPhase.of(options);
        phases.stream()
                .filter(phase -> !phase.isMeasured())
                .forEach(phase -> steps.add(new DemoStep(phase, 1)));
        for (int run = 1; run <= options.repeats(); run++) {
            for (DemoPhase phase : phases) {
                if (phase.isMeasured()) {
                    steps.add(new DemoStep(phase, run));
                }
            }
        }
        return steps;
    }

    /** Its name in the plan of the initiator and in its report. */
    String key() {
        return run == 1 ? phase.key() : phase.key() + "_run" + run;
    }

    /** The step with this key. */
    static DemoStep ofKey(String key) {
        Matcher matcher = REPEATED.matcher(key);
        return matcher.matches()
                ? new DemoStep(
                        DemoPhase.ofKey(matcher.group(1)), Integer.parseInt(matcher.group(2)))
                : new DemoStep(DemoPhase.ofKey(key), 1);
    }
}
