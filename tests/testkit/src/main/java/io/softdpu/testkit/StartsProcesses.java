package io.softdpu.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Marks a test that starts a process: a JVM, a shell, a compiler, {@code ./softdpu}. The level
 * verify leaves it out unless it is a {@link Smoke}.
 *
 * <p>On a class it holds for each test in it, in its nested classes and in its subclasses. {@link
 * StartsProcessesExtension} fails a test that starts a process without it.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@Tag(StartsProcesses.TAG)
public @interface StartsProcesses {

    /** The JUnit tag of these tests. */
    String TAG = "process";
}
