package io.softdpu.api;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The objects whose methods run during a call, of the classes that a {@link RecordingLoader} has
 * loaded. Public, since their methods call it.
 */
public final class PassedObjects {
    private static volatile @Nullable PassedObjects current;

    private final Thread thread = Thread.currentThread();
    private final Set<Object> passed = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<String> names = new ArrayList<>();

    private PassedObjects() {}

    /**
     * The objects of a call on this thread, by the names of their classes, in the order in which
     * they are reached first. Constants of enums are left out.
     */
    public static List<String> of(Runnable call) {
        PassedObjects recording = new PassedObjects();
        current = recording;
        try {
            call.run();
        } finally {
            current = null;
        }
        return recording.names;
    }

    /** A method of an object begins. */
    public static void entered(Object object) {
        PassedObjects recording = current;
        if (recording != null
                && recording.thread == Thread.currentThread()
                && !(object instanceof Enum)
                && recording.passed.add(object)) {
            recording.names.add(object.getClass().getSimpleName());
        }
    }
}
