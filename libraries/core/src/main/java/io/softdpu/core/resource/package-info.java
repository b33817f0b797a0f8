/**
 * Record of the resources of the operating system that softdpu opens and closes, for a test that
 * must leave none: descriptors, mapped memory, threads, and the regions that are exported and
 * imported. Start with {@link io.softdpu.core.resource.ResourceTracking}. Exported to the test
 * fixture alone.
 *
 * <p>Threads: a tracking belongs to the thread that started it.
 */
@NullMarked
package io.softdpu.core.resource;

import org.jspecify.annotations.NullMarked;
