package io.softdpu.core.spi;

import io.softdpu.core.execution.ContextState;
import io.softdpu.core.internal.sanitizer.SanitizerState;
import io.softdpu.linux.text.Text;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Descriptions of contexts for messages: state, tasks, and the events that they wait for. */
final class StateText {
    private StateText() {}

    /** The state of a context in the form {@code key=value}, beginning with its name. */
    static String of(ContextBase<?> context) {
        ContextState state = context.state();
        ContextEngine engine = context.engine();
        StringBuilder text =
                new StringBuilder(
                        Text.format(
                                "context=%s, state=%s, inFlightTasks=%d, allocatedTasks=%s",
                                context, state, engine.inFlight(), engine.pools().describe()));
        if (state == ContextState.STARTING || state == ContextState.STOPPING) {
            String awaited = context.describeAwaited();
            if (awaited != null) {
                text.append(", ").append(awaited);
            }
        }
        if (state == ContextState.STOPPING && engine.pools().allocated() > 0) {
            text.append(", expected=free of each task (close a graph instance that holds it first)")
                    .append(", allocatedAt=")
                    .append(allocatedAt(context, engine.oldestAllocation()));
        }
        return text.toString();
    }

    private static String allocatedAt(ContextBase<?> context, @Nullable Throwable allocation) {
        if (allocation == null) {
            return "unknown without " + SanitizerState.ENVIRONMENT;
        }
        for (StackTraceElement frame : allocation.getStackTrace()) {
            if (!isOfLibrary(context, frame.getClassName())) {
                return frame.toString();
            }
        }
        return "unknown";
    }

    /** Whether a class is one of those between the program and the pool. */
    private static boolean isOfLibrary(ContextBase<?> context, String className) {
        for (Class<?> type = context.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals(className) || isInterfaceOf(type, className)) {
                return true;
            }
        }
        return className.startsWith(StateText.class.getPackageName() + ".")
                || className.startsWith(SanitizerState.class.getPackageName() + ".");
    }

    private static boolean isInterfaceOf(Class<?> type, String className) {
        return Stream.of(type.getInterfaces()).anyMatch(each -> each.getName().equals(className));
    }
}
