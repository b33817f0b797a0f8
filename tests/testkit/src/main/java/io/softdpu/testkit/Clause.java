package io.softdpu.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the clauses of the seed documents that a test shows, by their ids in {@code
 * docs/clauses.tsv}.
 *
 * <p>On a class it holds for each test in it. A clause counts as passed in {@code
 * docs/conformance.md} when at least one test names it and every test that names it passed; so name
 * a clause only where breaking it would break the test. A test names three at most, which a test of
 * {@code architecture-tests} checks.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@Repeatable(Clause.Several.class)
public @interface Clause {

    /**
     * The ids, such as {@code "cc-031"}.
     *
     * @return one id to three
     */
    String[] value();

    /**
     * Why what the clauses ask for is refused with NOT_SUPPORTED: one short line that names the
     * ADR. The test then shows the refusal. Empty where the test shows the clause itself.
     *
     * @return the reason, or the empty string
     */
    String refused() default "";

    /** Container of the annotations of a test that shows some clauses and the refusal of others. */
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.METHOD, ElementType.TYPE})
    @interface Several {

        /**
         * The marks.
         *
         * @return at least two
         */
        Clause[] value();
    }
}
