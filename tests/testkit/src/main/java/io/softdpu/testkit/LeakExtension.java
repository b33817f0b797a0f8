package io.softdpu.testkit;

import io.softdpu.testkit.ResourceSnapshot.Thing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test that leaves a descriptor, a mapping, a thread, a process, a file or a region behind,
 * and reports where it was made. JUnit finds this extension by ServiceLoader.
 *
 * <p>It looks before a test's instance is made and again when all of the test has been cleaned up:
 * after its AfterEach methods, its {@link Processes} and its temporary folders. What a class makes
 * for all its tests is there before and after each of them, and is looked for when the class ends.
 * What ends by itself has the time of {@link Patience} for that. See {@link ResourceSnapshot} for
 * what counts.
 */
public final class LeakExtension extends BaselineExtension {

    /** JUnit's configuration parameter for how long things may take to end by themselves. */
    static final String DEADLINE_PARAMETER = "softdpu.leaks.deadline.millis";

    private static final int DEADLINE_MILLIS = (int) Patience.DEADLINE.toMillis();

    private static final String RECORDER_PACKAGE = "io.softdpu.linux.";

    /** False where a module's tests use a library that keeps something for itself. */
    private static final boolean FAILING = !"report".equals(System.getProperty("softdpu.leaks"));

    /** Leaks that a failure has named and that still exist; the class of the test has them, too. */
    private static final Set<Thing> REPORTED = ConcurrentHashMap.newKeySet();

    static {
        openWhatTheJdkKeeps();
    }

    /** For JUnit. */
    public LeakExtension() {}

    @Override
    AutoCloseable baseline(ExtensionContext context) {
        ResourceSnapshot now = ResourceSnapshot.now();
        now.retainIn(REPORTED);
        return new Baseline(
                context.getRequiredTestClass().getName(),
                deadline(context),
                now,
                OriginsReader.violations().size());
    }

    private static Duration deadline(ExtensionContext context) {
        return Duration.ofMillis(
                context.getConfigurationParameter(DEADLINE_PARAMETER, Integer::valueOf)
                        .orElse(DEADLINE_MILLIS));
    }

    /** Uses APIs of the JDK that keep descriptors open after their first use. */
    private static void openWhatTheJdkKeeps() {
        try {
            Selector.open().close();
            ServerSocketChannel.open(StandardProtocolFamily.UNIX).close();
            ServerSocketChannel.open().close();
            SocketChannel.open().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Baseline(
            String testClass, Duration deadline, ResourceSnapshot before, int violationsBefore)
            implements AutoCloseable {

        @Override
        public void close() {
            requireNoViolation();
            // What is only reported is not waited for.
            if (Await.holdsWithin(FAILING ? deadline : Duration.ZERO, () -> left().isEmpty())) {
                return;
            }
            Set<Thing> left = left();
            if (!left.isEmpty()) {
                REPORTED.addAll(left);
                AssertionError failure = failure(left);
                if (!FAILING) {
                    System.err.println(testClass + ": " + failure.getMessage());
                    return;
                }
                throw failure;
            }
        }

        private void requireNoViolation() {
            List<Throwable> violations = OriginsReader.violations();
            if (violations.size() > violationsBefore) {
                AssertionError failure =
                        new AssertionError(
                                "system calls whose cost a peer can choose: "
                                        + violations.get(violationsBefore).getMessage());
                violations
                        .subList(violationsBefore, violations.size())
                        .forEach(failure::addSuppressed);
                throw failure;
            }
        }

        private Set<Thing> left() {
            Set<Thing> left = ResourceSnapshot.now().since(before);
            left.removeAll(REPORTED);
            return left;
        }

        private AssertionError failure(Set<Thing> left) {
            Map<String, Throwable> origins = OriginsReader.open();
            List<Throwable> places = new ArrayList<>();
            String message =
                    left.stream()
                            .sorted(Comparator.comparing(Thing::id))
                            .map(thing -> {
                                Throwable origin = origins.get(thing.id());
                                if (origin == null) {
                                    return thing + unrecorded(thing);
                                }
                                places.add(origin);
                                return thing + ", made at " + place(origin);
                            })
                            .collect(Collectors.joining("\n  ", "left behind:\n  ", ""));
            AssertionError failure = new AssertionError(message);
            places.forEach(failure::addSuppressed);
            return failure;
        }

        /** The description of a resource that is not from a class of the module linux. */
        private static String unrecorded(Thing thing) {
            if (!thing.kind().equals("thread")) {
                return ", not made through softdpu";
            }
            return Thread.getAllStackTraces().entrySet().stream()
                    .filter(entry -> thing.id().equals("thread " + entry.getKey().threadId()))
                    .map(entry -> ", now at\n    " + joined(entry.getValue()))
                    .findFirst()
                    .orElse(", has ended meanwhile");
        }

        private static String joined(StackTraceElement[] stack) {
            return Arrays.stream(stack)
                    .map(StackTraceElement::toString)
                    .collect(Collectors.joining("\n    "));
        }

        /** The line of the test, where the stack has one; else the first that is not linux's. */
        private String place(Throwable origin) {
            StackTraceElement last = origin.getStackTrace()[0];
            for (Throwable at = origin; at != null; at = at.getCause()) {
                for (StackTraceElement frame : at.getStackTrace()) {
                    if (frame.getClassName().startsWith(testClass)) {
                        return frame.toString();
                    }
                }
                last =
                        Arrays.stream(at.getStackTrace())
                                .filter(frame -> !frame.getClassName().startsWith(RECORDER_PACKAGE))
                                .findFirst()
                                .orElse(last);
            }
            return last.toString();
        }
    }
}
