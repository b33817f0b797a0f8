package io.softdpu.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Marks a test that starts a process and nevertheless runs at the level verify: one to three per
 * library or application, for its connection, the end of a peer and the next start.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@Tag(StartsProcesses.TAG)
@Tag(Smoke.TAG)
public @interface Smoke {

    /** The JUnit tag of these tests. */
    String TAG = "smoke";
}
