/**
 * Test support for all modules, on the JDK and JUnit alone: annotations for the clauses that a test
 * shows, seeded randomness, a manual clock, real processes, and checks for leaked resources.
 *
 * <p>Whatever a helper starts or opens belongs to it, and is gone when it is closed or when the
 * test ends. Helpers belong to the thread of the test unless they say otherwise.
 */
@NullMarked
package io.softdpu.testkit;

import org.jspecify.annotations.NullMarked;
