package io.softdpu.junit;

import io.softdpu.core.Side;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Annotation of a test class, or of a test method, whose tests get a {@link SoftDpu}: the built-in
 * topology, the sanitizer with a random seed. {@link SoftDpuExtension#builder()} configures
 * another.
 *
 * {@snippet :
 * @SoftDpuTest
 * class CopyTest {
 *     @Test
 *     void shouldCopyFromTheHost(SoftDpu card) {
 *         Device host = card.hostDevice();
 *         Device dpu = card.dpuDevice();
 *         ProgressEngine engine = card.engine();
 *     }
 * }
 * }
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(SoftDpuExtension.class)
public @interface SoftDpuTest {
    /**
     * Whether the {@linkplain io.softdpu.core.execution.Sanitizer sanitizer} is on, with a random
     * seed.
     */
    boolean sanitized() default true;

    /**
     * Sides with a fabric folder of their own, as in {@link
     * SoftDpuExtension.Builder#separateFolders}.
     */
    Side[] separateFolders() default {};
}
