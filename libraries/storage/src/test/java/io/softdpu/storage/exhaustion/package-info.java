/**
 * Tests of resource exhaustion: no descriptor, no address space, no thread. A child JVM lowers its
 * own limit until the first, the second, the third acquisition fails, and checks the error and the
 * leaks of each failure.
 */
@NullMarked
package io.softdpu.storage.exhaustion;

import org.jspecify.annotations.NullMarked;
