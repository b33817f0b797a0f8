package io.softdpu.storage.exhaustion;

import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.ProcessLimit;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Program that lowers one of its limits step by step for each subject. Prints one line per subject,
 * and a line that begins with PROBLEM for each unexpected result.
 */
final class ExhaustionProbe {
    private static final int MOST_STEPS = 2_000;

    private final ProcessLimit limit;
    private final Path folder;

    private ExhaustionProbe(ProcessLimit limit, Path folder) {
        this.limit = limit;
        this.folder = folder;
    }

    /** Arguments: the limit, the folder, what to try; for a session the steps to take. */
    public static void main(String[] arguments) throws Throwable {
        ProcessLimit.prepare();
        Path folder = Path.of(arguments[1]);
        ExhaustionProbe probe = new ExhaustionProbe(ProcessLimit.valueOf(arguments[0]), folder);
        try (Subjects subjects = new Subjects(folder)) {
            switch (arguments[2]) {
                case "each" -> {
                    probe.tryAll(subjects.simple());
                    if (probe.limit == ProcessLimit.DESCRIPTORS) {
                        // With no room for a stack or a buffer the JVM itself comes to its end.
                        probe.tryAll(subjects.paired());
                    } else {
                        probe.tryAll(subjects.withoutDescriptors());
                    }
                }
                default -> {
                    long[] steps =
                            Stream.of(arguments).skip(3).mapToLong(Long::parseLong).toArray();
                    probe.trySome(subjects.session(), steps);
                }
            }
        }
        System.out.println("DONE");
    }

    private void tryAll(List<Subject> subjects) throws Throwable {
        for (Subject subject : subjects) {
            warmUp(subject);
            Map<String, Integer> errors = new TreeMap<>();
            int step = 0;
            while (step < MOST_STEPS && !attempt(subject, step, errors)) {
                step++;
            }
            if (step == MOST_STEPS) {
                problem(subject, step, "it never succeeds");
            }
            if (step == 0 && limit == ProcessLimit.DESCRIPTORS) {
                problem(subject, step, "it needs nothing of this limit");
            }
            System.out.println(subject.name() + " failures=" + step + ", errors=" + errors);
        }
    }

    private void trySome(Subject subject, long[] steps) throws Throwable {
        warmUp(subject);
        Map<String, Integer> errors = new TreeMap<>();
        for (long step : steps) {
            attempt(subject, step, errors);
        }
        System.out.println(subject.name() + " errors=" + errors);
    }

    /** What is made at the first use only stays; what nothing is wanting for leaves nothing. */
    private void warmUp(Subject subject) throws Exception {
        subject.acquire().close();
        for (int i = 0; i < 2; i++) {
            useAndSettle(subject);
        }
        System.gc(); // what the Cleaner has to give back would count as given back below
    }

    /**
     * Waits until other threads have released all resources of a use: a descriptor that is closed
     * under the limit would raise the number of free ones.
     */
    private void useAndSettle(Subject subject) throws Exception {
        LeakCheck before = LeakCheck.begin(folder);
        subject.acquire().close();
        before.assertNothingLeft();
    }

    /** Whether it succeeded. */
    private boolean attempt(Subject subject, long step, Map<String, Integer> errors)
            throws Throwable {
        LeakCheck before = LeakCheck.begin(folder);
        AutoCloseable acquired = null;
        Throwable failure = null;
        limit.lower(step);
        try {
            acquired = subject.acquire();
        } catch (Throwable e) {
            failure = e;
        } finally {
            limit.raise();
        }
        if (failure != null) {
            errors.merge(kindOf(subject, step, failure), 1, Integer::sum);
        } else {
            acquired.close();
        }
        try {
            before.assertNothingLeft();
        } catch (AssertionError e) {
            problem(subject, step, e.getMessage() + " after " + failure);
        }
        if (failure != null) {
            try {
                useAndSettle(subject);
            } catch (Exception | AssertionError e) {
                problem(subject, step, "it does not work afterwards: " + e);
            }
        }
        System.out.println(subject.name() + " at " + step); // it goes on
        return failure == null;
    }

    /** The causes that the participants report; reports a PROBLEM for unexpected ones. */
    private String kindOf(Subject subject, long step, Throwable failure) {
        List<Throwable> all = new ArrayList<>(List.of(failure));
        for (int i = 0; i < all.size(); i++) {
            Stream.of(all.get(i).getSuppressed())
                    .filter(one -> !all.contains(one))
                    .forEach(all::add);
        }
        EnumSet<ExhaustionCause> named = EnumSet.noneOf(ExhaustionCause.class);
        for (Throwable one : all) {
            ExhaustionCause wanting = ExhaustionCause.of(one, all);
            if (wanting == null) {
                problem(subject, step, "it does not say what is wanting: " + one + " of " + all);
                one.printStackTrace(System.out);
            } else if (!wanting.mayBeSaid(limit, subject)) {
                problem(subject, step, "not what is wanting here: " + one + " of " + all);
            } else {
                named.add(wanting);
            }
        }
        if (!named.isEmpty() && named.stream().noneMatch(ExhaustionCause::isReason)) {
            problem(subject, step, "nobody says why: " + all);
        }
        return named.isEmpty()
                ? failure.getClass().getSimpleName()
                : named.iterator().next().name();
    }

    private static void problem(Subject subject, long step, String text) {
        System.out.println("PROBLEM " + subject.name() + " at " + step + ": " + text);
    }
}
