package io.softdpu.junit;

import io.softdpu.core.resource.OpenResource;
import io.softdpu.core.resource.ResourceTracking;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Search for resources that a test has left: one finding per call that has created some, such as
 * {@code ProgressEngine.create at CopyTest.java:31 has left: descriptor 12}.
 */
final class Leaks {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final int MAX_NAMED = 5;

    private final ResourceTracking tracking;
    private final String testClass;

    /** Machines and devices that could not be closed are findings already. */
    private final boolean ownLeftOpen;

    Leaks(ResourceTracking tracking, String testClass, boolean ownLeftOpen) {
        this.tracking = tracking;
        this.testClass = testClass;
        this.ownLeftOpen = ownLeftOpen;
    }

    /** A call of the test, with the frame of the API above that of the test. */
    private record Call(String api, String place) {
        @Override
        public String toString() {
            return api + " at " + place;
        }
    }

    /** Adds a finding per call, after resources have had time to be released by themselves. */
    void find(Duration deadline, Findings findings) {
        long start = System.nanoTime();
        long limitNanos = TimeUnit.NANOSECONDS.convert(deadline);
        while (!left().isEmpty() && System.nanoTime() - start < limitNanos) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        left().forEach((call, resources) -> {
            List<String> names =
                    resources.stream().limit(MAX_NAMED).map(OpenResource::name).toList();
            int more = resources.size() - names.size();
            findings.add(
                    Text.format(
                            "%s has left: %s%s",
                            call,
                            String.join(", ", names),
                            more > 0 ? Text.format(" and %d more", more) : ""),
                    resources.getFirst().createdAt());
        });
    }

    private Map<Call, List<OpenResource>> left() {
        Map<Call, List<OpenResource>> left = new LinkedHashMap<>();
        for (OpenResource resource : tracking.open()) {
            Call call = call(resource.createdAt());
            if (!ownLeftOpen || !call.api.startsWith(SoftDpu.class.getSimpleName() + ".")) {
                left.computeIfAbsent(call, key -> new ArrayList<>()).add(resource);
            }
        }
        return left;
    }

    private Call call(Throwable createdAt) {
        for (Throwable at = createdAt; at != null; at = at.getCause()) {
            StackTraceElement above = null;
            for (StackTraceElement frame : at.getStackTrace()) {
                if (isOfTest(frame)) {
                    return new Call(nameOf(above), place(frame));
                }
                above = frame;
            }
        }
        StackTraceElement first = createdAt.getStackTrace()[0];
        return new Call(nameOf(first), place(first));
    }

    private boolean isOfTest(StackTraceElement frame) {
        String name = frame.getClassName();
        return name.startsWith(testClass) || !name.matches("(io\\.softdpu|java|jdk|sun)\\..*");
    }

    private static String nameOf(@Nullable StackTraceElement frame) {
        if (frame == null) {
            return "(unknown)";
        }
        String name = frame.getClassName();
        return name.substring(name.lastIndexOf('.') + 1).replace('$', '.')
                + "."
                + frame.getMethodName();
    }

    private static String place(StackTraceElement frame) {
        return Text.format("%s:%d", frame.getFileName(), frame.getLineNumber());
    }
}
