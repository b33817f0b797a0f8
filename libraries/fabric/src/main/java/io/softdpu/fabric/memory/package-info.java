/**
 * Shared and private memory of this process, and memory of peers that is mapped here.
 *
 * <p><b>Threads.</b> Any thread. Memory of peers is mapped, populated and unmapped by mapping
 * workers, in slices, since a peer determines how long that takes.
 *
 * <p><b>Ownership.</b> A {@link io.softdpu.fabric.memory.SharedSegment} has a reference count: each
 * holder retains it, and at zero it is unmapped and its descriptor closed.
 *
 * <p><b>Trust.</b> A descriptor of a peer is examined before it is mapped and while it is
 * populated, and its bytes are counted against the limits of the bus until they are unmapped.
 */
@NullMarked
package io.softdpu.fabric.memory;

import org.jspecify.annotations.NullMarked;
