/**
 * What the tests of all modules share, above the JDK and JUnit alone: marks for the clauses that a
 * test shows, seeded randomness, a clock that stands still, real processes and what they leave
 * behind.
 *
 * <p>Whatever a helper starts or opens belongs to it, and is gone when it is closed or when the
 * test ends. Helpers belong to the thread of the test unless they say otherwise.
 */
@NullMarked
package io.softdpu.testkit;

import org.jspecify.annotations.NullMarked;
